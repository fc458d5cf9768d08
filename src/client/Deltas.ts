import { Effect, Option, Stream } from "effect"

/** A page of a delta. */
export interface DeltaPage<A> {
  readonly data: ReadonlyArray<A>
  readonly cursor: string
  readonly more: boolean
}

/**
 * The pages of a delta from a cursor on, or from the begin, to its end. Keep the `cursor` of a page once it is applied, and
 * begin there the next time: `Deltas.pages((query) => client.locations.delta({ query }), cursor)`.
 */
export const pages = <A, E, R>(
  read: (query: { readonly after: string }) => Effect.Effect<DeltaPage<A>, E, R>,
  after = ""
): Stream.Stream<DeltaPage<A>, E, R> =>
  Stream.paginate(after, (cursor) =>
    Effect.map(read({ after: cursor }), (page) => [
      [page],
      page.more ? Option.some(page.cursor) : Option.none<string>()
    ])
  )
