import { Effect } from "effect"
import type { DeltaPage } from "../Deltas.ts"
import { type CallSite, nextOf } from "./Call.ts"
import type { WaypostError } from "./Errors.ts"

/**
 * The pages of a delta from a cursor on, or from its begin, to its end:
 * `for await (const { data, cursor } of client.locations.deltaPages(cursor))`. Keep the `cursor` of a page once it is
 * applied, and begin there the next time.
 */
export const make = <A>(
  read: (query: { readonly after?: string }) => Effect.Effect<DeltaPage<A>, WaypostError>,
  begin: string | undefined,
  site: CallSite,
  signal: AbortSignal | undefined
): AsyncIterable<DeltaPage<A>> => ({
  [Symbol.asyncIterator]: () => {
    let after = begin
    let isDone = false
    type Result = IteratorResult<DeltaPage<A>, undefined>
    const page = Effect.suspend((): Effect.Effect<Result, WaypostError> => {
      if (isDone) return Effect.succeed({ done: true, value: undefined })
      return Effect.map(read(after === undefined ? {} : { after }), (value) => {
        after = value.cursor
        isDone = !value.more
        return { done: false, value }
      })
    })
    return { next: nextOf(page, site, signal) }
  }
})
