import { Effect } from "effect"
import * as Follow from "../Follow.ts"
import { type CallOptions, type CallSite, nextOf } from "./Call.ts"
import type { WaypostError } from "./Errors.ts"

/** The options of following the log. */
export interface FollowOptions extends Pick<CallOptions, "signal"> {
  /**
   * Receives the cursor of each page whose events have all been taken, before the next one is read, which waits for its promise. With
   * filters it moves on past the events that were left out, where the cursor of the last event stays behind and expires. A program
   * that takes several events at a time keeps it once it has handled those that it took before.
   */
  readonly onCursor?: (cursor: string) => unknown
}

/**
 * The events of the log as they are committed: `for await (const event of client.events.follow({ after }))`. It never ends;
 * an interrupted program goes on with the `cursor` of the last event that it has handled.
 */
export const make = <A>(
  follow: Follow.Follow<A, WaypostError, never>,
  begin: string | undefined,
  site: CallSite,
  { onCursor, signal }: FollowOptions
): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    let events: ReadonlyArray<A> = []
    let index = 0
    let after = begin
    let kept = begin
    const keep = Effect.suspend(() => {
      const cursor = after
      if (cursor === undefined || cursor === kept || onCursor === undefined) return Effect.void
      return Effect.map(
        Effect.promise(async () => onCursor(cursor)),
        () => (kept = cursor)
      )
    })
    const part = Effect.andThen(
      keep,
      Effect.suspend(() => Follow.next(follow, after))
    )
    const event: Effect.Effect<IteratorResult<A, undefined>, WaypostError> = Effect.suspend(() => {
      if (index < events.length) return Effect.succeed({ done: false, value: events[index++]! })
      return Effect.flatMap(part, ({ cursor, data }) => {
        events = data
        index = 0
        after = cursor
        return event
      })
    })
    return { next: nextOf(event, site, signal) }
  }
})
