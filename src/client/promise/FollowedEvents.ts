import { Effect, Option } from "effect"
import * as Follow from "../Follow.ts"
import { type CallOptions, type CallSite, nextOf } from "./Call.ts"
import type { WaypostError } from "./Errors.ts"
import { pull } from "./Pull.ts"

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
    let kept = begin
    const keep = (cursor: string | undefined) => {
      if (cursor === undefined || cursor === kept || onCursor === undefined) return Effect.void
      return Effect.map(
        Effect.promise(async () => onCursor(cursor)),
        () => (kept = cursor)
      )
    }
    const events = pull(begin, (after) =>
      Effect.map(Effect.andThen(keep(after), Follow.next(follow, after)), ({ cursor, data }) => [
        data,
        Option.some(cursor)
      ])
    )
    return { next: nextOf(events, site, signal) }
  }
})
