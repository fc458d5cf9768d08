import { Effect, Option } from "effect"
import type { DeltaPage } from "../Deltas.ts"
import { type CallSite, nextOf } from "./Call.ts"
import type { WaypostError } from "./Errors.ts"
import { pull } from "./Pull.ts"

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
    const pages = pull(begin, (after) =>
      Effect.map(read(after === undefined ? {} : { after }), (page) => [
        [page],
        page.more ? Option.some(page.cursor) : Option.none()
      ])
    )
    return { next: nextOf(pages, site, signal) }
  }
})
