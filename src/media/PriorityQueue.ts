import { Deferred, Effect } from "effect"

interface Entry {
  readonly priority: () => number
  readonly granted: Deferred.Deferred<void>
}

/** Permits that go to the waiting effect with the lowest number, and among equals to the one that came first. */
export interface PriorityQueue {
  /** The priority is read whenever a permit becomes free, so it may change while the effect waits. */
  readonly withPermit: (priority: () => number) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** How many effects wait. */
  readonly waiting: () => number
}

export const make = (permits: number): PriorityQueue => {
  const waiting: Array<Entry> = []
  let free = permits

  const grant = () => {
    if (free === 0 || waiting.length === 0) return
    const priorities = waiting.map(({ priority }) => priority())
    const [next] = waiting.splice(priorities.indexOf(Math.min(...priorities)), 1)
    free--
    Deferred.doneUnsafe(next!.granted, Effect.void)
  }

  const leave = (entry: Entry) => {
    const index = waiting.indexOf(entry)
    if (index === -1) free++
    else waiting.splice(index, 1)
    grant()
  }

  return {
    withPermit: (priority) => (effect) =>
      Effect.uninterruptibleMask((restore) => {
        const entry: Entry = { priority, granted: Deferred.makeUnsafe() }
        waiting.push(entry)
        grant()
        return restore(Effect.andThen(Deferred.await(entry.granted), effect)).pipe(
          Effect.ensuring(Effect.sync(() => leave(entry)))
        )
      }),
    waiting: () => waiting.length
  }
}
