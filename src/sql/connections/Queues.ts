import { Effect, PartitionedSemaphore, RcMap } from "effect"
import { CurrentShare } from "../../domain/keys/Share.ts"

type Queue = PartitionedSemaphore.PartitionedSemaphore<string>

/**
 * Runs effects of the same name one after another, and those of different names at the same time. In the queue of a name, shares
 * take turns.
 */
export const make = Effect.map(
  RcMap.make<string, Queue, never, never>({ lookup: () => PartitionedSemaphore.make<string>({ permits: 1 }) }),
  (queues) =>
    <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
      Effect.scoped(
        Effect.flatMap(CurrentShare, ({ id }) =>
          Effect.flatMap(RcMap.get(queues, name), (queue) => queue.withPermit(id)(effect))
        )
      )
)
