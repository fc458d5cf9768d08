import { Deferred, Effect } from "effect"

/** Runs effects of the same key one after another, in the order of the calls. Keeps only the keys that are running. */
export const make = () => {
  const last = new Map<string, Deferred.Deferred<void>>()
  return (key: string) => {
    const previous = last.get(key)
    const own = Deferred.makeUnsafe<void>()
    last.set(key, own)
    return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      (previous === undefined ? effect : Effect.andThen(Deferred.await(previous), effect)).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            if (last.get(key) === own) last.delete(key)
            Deferred.doneUnsafe(own, Effect.void)
          })
        )
      )
  }
}
