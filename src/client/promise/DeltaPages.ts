import { Effect } from "effect"
import type { DeltaPage } from "../Deltas.ts"
import { type CallSite, runOrReject } from "./Call.ts"
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
    const end: Effect.Effect<Result, WaypostError> = Effect.succeed({ done: true, value: undefined })
    const page = Effect.map(
      Effect.suspend(() => read(after === undefined ? {} : { after })),
      (value): Result => {
        after = value.cursor
        isDone = !value.more
        return { done: false, value }
      }
    )
    return { next: () => runOrReject(isDone ? end : page, site, signal) }
  }
})
