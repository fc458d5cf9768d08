import { Context, DateTime, Effect, Layer, type Scope } from "effect"
import { visibleTo } from "../../domain/changes/RecordType.ts"
import type { CallingKey, UnauthorizedError } from "../../domain/keys/ApiKey.ts"
import { relationKinds } from "../../domain/write/Relations.ts"
import { EventLog, type StoredEvent } from "../../repositories/changes/EventLog.ts"
import type { Selection } from "../../repositories/changes/EventPages.ts"
import { KeyEnds } from "../KeyEnds.ts"
import { monotonicMillis } from "../MonotonicTime.ts"
import { ChangeFeed } from "./ChangeFeed.ts"
import { Cursors } from "./Cursors.ts"
import { Events, seenBy } from "./Events.ts"
import { shared } from "./EventText.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import type { Event } from "../../domain/changes/Event.ts"

/** Events of a page that a follower reads from the log, and bytes of their values. */
const catchUp = { limit: 200, maxBytes: 1024 * 1024 }

/** An event as its reader sees it. */
export interface SeenEvent {
  readonly cursor: string
  /** `location.updated`. */
  readonly type: string
  readonly text: Encoded<Event>
}

/** How many events one answer has at most, and how many bytes unless the first event alone has more. */
export interface BatchLimits {
  readonly events: number
  readonly bytes: number
}

/** A reader of the log, from a position on. */
export interface Reader {
  /** The next events: those that there are, or the first ones that come before a time of `monotonicMillis`, or none. */
  readonly next: (until: number, limits: BatchLimits) => Effect.Effect<ReadonlyArray<SeenEvent>>
  /** The cursor up to which events were returned or skipped. */
  readonly cursor: () => string
  /** Whether the log has more events. */
  readonly hasMore: () => boolean
  /** Makes `next` return at once. */
  readonly end: () => void
  readonly hasEnded: () => boolean
  /** Why the key of the reader is no longer valid. */
  readonly keyEnd: () => UnauthorizedError | undefined
}

interface Request {
  readonly selection: Selection
  readonly position: number
  readonly key: CallingKey
  /** Runs when the key has ended. */
  readonly onEnd: () => void
}

/** Whether an event is one of a selection; its types are compared by the reader. */
const isSelected = ({ actor, paths = relationKinds, record, since, until }: Selection) => {
  const [from, to] = [since && DateTime.formatIso(since), until && DateTime.formatIso(until)]
  const isOf = ({ links, uuid }: StoredEvent, record: string) =>
    uuid === record ||
    (links ?? []).some(
      ({ added, path, removed }) => paths.includes(path) && (added.includes(record) || removed.includes(record))
    )
  return (event: StoredEvent) =>
    (record === undefined || isOf(event, record)) &&
    (actor === undefined || ("uuid" in event.actor && event.actor.uuid === actor)) &&
    (from === undefined || event.occurredAt >= from) &&
    (to === undefined || event.occurredAt < to)
}

/** Follows the log: from the log what is older, then from memory, without gap and without a statement for each reader. */
export class Following extends Context.Service<
  Following,
  { readonly follow: (request: Request) => Effect.Effect<Reader, never, Scope.Scope> }
>()("waypost/services/changes/Following") {
  static readonly layer = Layer.effect(
    Following,
    Effect.gen(function* () {
      const log = yield* EventLog
      const feed = yield* ChangeFeed
      const keyEnds = yield* KeyEnds
      const events = yield* Events
      const cursors = yield* Cursors
      /** What readers see of events in memory. */
      const seenOf = shared((event, visible): SeenEvent | undefined => {
        const text = events.encode(event, visible)
        if (text === undefined) return undefined
        return { text, cursor: cursors.encode({ position: event.position }), type: `${event.type}.${event.action}` }
      })

      const follow = Effect.fnUntraced(function* ({ key, onEnd, position: begin, selection }: Request) {
        const visible = visibleTo(key.permissions)
        const seen = seenBy(selection, visible)
        const types = seen.types === undefined ? undefined : new Set(seen.types)
        const selected = isSelected(seen)
        const follower = yield* feed.follow
        let position = begin
        /** Whether there are more events if memory no longer reaches back to the position. */
        let isBehind = true
        const state = { hasEnded: false }
        let keyEnd: UnauthorizedError | undefined
        const end = () => {
          state.hasEnded = true
          follower.wake()
        }
        yield* keyEnds.watch(key.uuid, (error) => {
          if (keyEnd !== undefined) return
          keyEnd = error
          end()
          onEnd()
        })

        /** Moves over events, and returns those that the reader sees. */
        const take = (read: ReadonlyArray<StoredEvent>, limits: BatchLimits) => {
          const taken: Array<SeenEvent> = []
          let bytes = 0
          for (const event of read) {
            const isSeen = (types === undefined || types.has(`${event.type}.${event.action}`)) && selected(event)
            const shown = isSeen ? seenOf(event, visible) : undefined
            if (shown !== undefined) {
              bytes += Buffer.byteLength(shown.text)
              if (taken.length === limits.events || (bytes > limits.bytes && taken.length > 0)) return taken
              taken.push(shown)
            }
            position = event.position
          }
          return taken
        }

        const readLog = Effect.fnUntraced(function* (limits: BatchLimits) {
          const limit = Math.min(catchUp.limit, limits.events)
          const page = yield* log.page({ ...seen, after: position, order: "asc", ...catchUp, limit })
          const taken = take(page.events, limits)
          const isWhole = page.events.length === 0 || position === page.events.at(-1)!.position
          if (isWhole) position = page.position
          return { taken, more: page.more || !isWhole }
        })

        const next = (until: number, limits: BatchLimits): Effect.Effect<ReadonlyArray<SeenEvent>> =>
          Effect.gen(function* () {
            while (!state.hasEnded) {
              const kept = follower.after(position)
              const read =
                kept === undefined ? yield* readLog(limits) : { taken: take(kept, limits), more: kept.length > 0 }
              isBehind = kept !== undefined || read.more
              if (read.taken.length > 0) return read.taken
              const left = until - (yield* monotonicMillis)
              if (left <= 0) break
              if (!read.more) yield* follower.wait(position, left)
            }
            return []
          })

        return {
          next,
          cursor: () => cursors.encode({ position }),
          hasMore: () => {
            const kept = follower.after(position)
            return kept === undefined ? isBehind : kept.length > 0
          },
          end,
          hasEnded: () => state.hasEnded,
          keyEnd: () => keyEnd
        } satisfies Reader
      })
      return Following.of({ follow })
    })
  )
}
