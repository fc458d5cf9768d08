import { Effect, RcMap, Semaphore } from "effect"

/** Runs effects of the same name one after another, and those of different names at the same time. */
export const make = Effect.map(
  RcMap.make<string, Semaphore.Semaphore, never, never>({ lookup: () => Semaphore.make(1) }),
  (queues) =>
    <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
      Effect.scoped(Effect.flatMap(RcMap.get(queues, name), (queue) => queue.withPermit(effect)))
)
