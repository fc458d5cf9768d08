import { Context, Effect, Latch, Layer, Metric, type Scope } from "effect"
import { CurrentShare, firstShare } from "../../domain/keys/Share.ts"
import { EventLog, type EventPage, type StoredEvent } from "../../repositories/changes/EventLog.ts"

/** Events, and bytes of their values, that are kept in memory. A follower that is further behind reads the log. */
const maxEvents = 5000
const maxBytes = 8 * 1024 * 1024

/** Events of one statement. */
const batch = 500

const followersGauge = Metric.gauge("waypost_event_followers", {
  description: "Streams and waiting requests that follow the log of changes"
})

/** What reads the end of the log as it grows. */
export interface Follower {
  /** The first events behind a position, which can be none; `undefined` if they are no longer in memory. */
  readonly after: (position: number) => ReadonlyArray<StoredEvent> | undefined
  /** Waits for an event behind a position, at most for this time. It ends at once when `wake` is called. */
  readonly wait: (position: number, millis: number) => Effect.Effect<void>
  readonly wake: () => void
}

/** Whether an event says that values of earlier ones were removed. */
const isErasure = ({ after }: StoredEvent) => after !== null && "erased" in after

/** The last events of the log. Between their positions are those that the log does not return. */
interface Tail {
  /** The position after which all events are here. */
  start: number
  /** The position up to which the log was read. */
  end: number
  bytes: number
  readonly events: Array<StoredEvent>
}

/**
 * Reads the end of the log once for all followers of this process: at most every 100 ms, and not at all while there are
 * none.
 */
export class ChangeFeed extends Context.Service<
  ChangeFeed,
  { readonly follow: Effect.Effect<Follower, never, Scope.Scope> }
>()("waypost/services/changes/ChangeFeed") {
  static readonly layer = Layer.effect(
    ChangeFeed,
    Effect.gen(function* () {
      const log = yield* EventLog
      const wakers = new Set<() => void>()
      const hasFollowers = yield* Latch.make(false)
      let tail: Tail | undefined
      yield* Metric.update(followersGauge, 0)

      const append = ({ events, position }: EventPage, to: Tail) => {
        // Values that were read before are no longer in the log.
        if (events.some(isErasure)) {
          to.events.length = 0
          to.bytes = 0
          to.start = to.end
        }
        to.events.push(...events)
        to.end = position
        for (const event of events) to.bytes += event.bytes
        let dropped = 0
        while (to.events.length - dropped > maxEvents || (to.bytes > maxBytes && dropped < to.events.length)) {
          to.bytes -= to.events[dropped]!.bytes
          dropped += 1
        }
        const last = to.events.splice(0, dropped).at(-1)
        if (last !== undefined) to.start = last.position
      }

      const readEnd = Effect.map(log.retained, ({ last }) => {
        // Without followers the log is not read on.
        if (wakers.size > 0) tail = { start: last, end: last, bytes: 0, events: [] }
      })
      const readNew = (known: Tail): Effect.Effect<void> =>
        Effect.flatMap(log.read({ after: known.end, limit: batch, order: "asc" }), (page): Effect.Effect<void> => {
          // The database lost its last events.
          if (page.position < known.end) return readEnd
          append(page, known)
          return page.more ? readNew(known) : Effect.void
        })
      const read: Effect.Effect<void> = Effect.suspend(() => (tail === undefined ? readEnd : readNew(tail)))
      const poll = read.pipe(
        Effect.provideService(CurrentShare, firstShare),
        Effect.andThen(() => Effect.sync(() => wakers.forEach((wake) => wake()))),
        Effect.andThen(Effect.sleep("100 millis")),
        Effect.catchCause((cause) =>
          Effect.andThen(Effect.logWarning("Could not read the change log", cause), Effect.sleep("1 second"))
        )
      )
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(hasFollowers.await, poll)))

      const add = (wake: () => void) => {
        wakers.add(wake)
        hasFollowers.openUnsafe()
        return Metric.update(followersGauge, wakers.size)
      }
      const remove = (wake: () => void) => {
        wakers.delete(wake)
        if (wakers.size === 0) {
          hasFollowers.closeUnsafe()
          tail = undefined
        }
        return Metric.update(followersGauge, wakers.size)
      }

      const follow = Effect.gen(function* () {
        let check: (() => void) | undefined
        let end: (() => void) | undefined
        const isBehind = (position: number) =>
          tail !== undefined && (position < tail.start || position < (tail.events.at(-1)?.position ?? 0))
        const wait = (position: number, millis: number) =>
          Effect.callback<void>((resume) => {
            const done = () => {
              clearTimeout(timer)
              check = end = undefined
              resume(Effect.void)
            }
            const timer = setTimeout(done, millis)
            end = done
            check = () => isBehind(position) && done()
            check()
            return Effect.sync(() => {
              clearTimeout(timer)
              check = end = undefined
            })
          })
        const onRead = () => check?.()
        yield* Effect.acquireRelease(
          Effect.suspend(() => add(onRead)),
          () => Effect.suspend(() => remove(onRead))
        )
        return {
          after: (position) => {
            if (tail === undefined || position < tail.start) return undefined
            // Most followers are near the end.
            const next = tail.events.findLastIndex((event) => event.position <= position) + 1
            return tail.events.slice(next, next + batch)
          },
          wait,
          wake: () => end?.()
        } satisfies Follower
      })
      return ChangeFeed.of({ follow })
    })
  )
}
