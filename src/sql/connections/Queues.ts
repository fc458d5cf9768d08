import { Effect, RcMap, Semaphore } from "effect"

/** Runs effects of the same key one after another, and those of different keys at the same time. */
export const make = <K>() =>
  Effect.map(
    RcMap.make<K, Semaphore.Semaphore, never, never>({ lookup: () => Semaphore.make(1) }),
    (queues) =>
      <A, E, R>(key: K, effect: Effect.Effect<A, E, R>) =>
        Effect.scoped(Effect.flatMap(RcMap.get(queues, key), (queue) => queue.withPermit(effect)))
  )
