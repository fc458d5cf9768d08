import { Effect } from "effect"
import * as Follow from "../Follow.ts"
import { type CallSite, nextOf } from "./Call.ts"
import type { WaypostError } from "./Errors.ts"

/**
 * The events of the log as they are committed: `for await (const event of client.events.follow({ after }))`. It never ends;
 * an interrupted program goes on with the `cursor` of the last event that it has handled.
 */
export const make = <A>(
  follow: Follow.Follow<A, WaypostError, never>,
  begin: string | undefined,
  site: CallSite,
  signal: AbortSignal | undefined
): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    let events: ReadonlyArray<A> = []
    let index = 0
    let after = begin
    const event: Effect.Effect<IteratorResult<A, undefined>, WaypostError> = Effect.suspend(() => {
      if (index < events.length) return Effect.succeed({ done: false, value: events[index++]! })
      return Effect.flatMap(Follow.next(follow, after), ({ cursor, data }) => {
        events = data
        index = 0
        after = cursor
        return event
      })
    })
    return { next: nextOf(event, site, signal) }
  }
})
