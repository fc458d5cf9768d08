import { Deferred, Effect } from "effect"

/** A place in the queue. */
export interface Place {
  /** The share that the work counts for. */
  readonly share: string
  /** The lowest number goes first. It is read whenever a permit becomes free, so it may change. */
  readonly priority: () => number
}

interface Entry extends Place {
  readonly granted: Deferred.Deferred<void>
}

/** How many shares are remembered that have no work now. */
const maxIdle = 1000

/**
 * Permits that go to the waiting work with the lowest number; among equals to the share that has held them for the shortest
 * time, and within a share to the work that came first. A share that comes back has no claim for the time it was away.
 */
export const make = (permits: number) => {
  const waiting: Array<Entry> = []
  const working = new Set<Entry>()
  /** Milliseconds that each share has held permits, at least those of the shares that were served while it was away. */
  const spent = new Map<string, number>()
  let served = 0

  const hasWork = (share: string) => [...waiting, ...working].some((entry) => entry.share === share)
  const spentBy = ({ share }: Entry) => spent.get(share) ?? served

  const urgentOf = (entries: ReadonlyArray<Entry>) =>
    entries.filter(({ priority }) => priority() === 0).map(({ share }) => share)

  const isBefore = (a: Entry, b: Entry) => {
    const [first, second] = [a.priority(), b.priority()]
    return first === second ? spentBy(a) < spentBy(b) : first < second
  }

  const join = (entry: Entry) => {
    if (!hasWork(entry.share)) spent.set(entry.share, Math.max(spentBy(entry), served))
    waiting.push(entry)
    grant()
  }

  const grant = () => {
    if (working.size >= permits || waiting.length === 0) return
    const next = waiting.reduce((first, entry) => (isBefore(entry, first) ? entry : first))
    waiting.splice(waiting.indexOf(next), 1)
    working.add(next)
    served = Math.max(served, spentBy(next))
    Deferred.doneUnsafe(next.granted, Effect.void)
  }

  const leave = (entry: Entry, millis: number) => {
    if (working.delete(entry)) spent.set(entry.share, spentBy(entry) + millis)
    else waiting.splice(waiting.indexOf(entry), 1)
    if (spent.size > maxIdle) for (const share of spent.keys()) if (!hasWork(share)) spent.delete(share)
    grant()
  }

  return {
    withPermit:
      (place: Place) =>
      <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.uninterruptibleMask((restore) => {
          const entry: Entry = { ...place, granted: Deferred.makeUnsafe() }
          let began = performance.now()
          join(entry)
          const granted = Effect.andThen(
            Deferred.await(entry.granted),
            Effect.sync(() => (began = performance.now()))
          )
          return restore(Effect.andThen(granted, effect)).pipe(
            Effect.ensuring(Effect.sync(() => leave(entry, performance.now() - began)))
          )
        }),
    /** How much work of a share waits. */
    waiting: (share: string) => waiting.filter((entry) => entry.share === share).length,
    /** The shares that have work of the highest priority, and those of which such work waits. */
    urgent: () => urgentOf([...waiting, ...working]),
    urgentWaiting: () => urgentOf(waiting)
  }
}
