import { Deferred, Effect } from "effect"

/**
 * Effects of one key wait for each other, in the order in which the turns were taken, however many run at once. Only the
 * keys under way are remembered.
 */
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
