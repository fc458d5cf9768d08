import { Effect, Option } from "effect"
import { maxLimit } from "../domain/query/PageLimit.ts"

/** How far a list has been read: the cursor of the next page, and the number of records to ask for. */
export interface Progress {
  readonly after: string
  readonly limit: number
}

/** The query for a page. */
export interface Query {
  readonly limit: number
  readonly after: string
  readonly total: boolean
  readonly sortBy: "createdAt"
  readonly sortOrder: "asc"
}

interface Pagination {
  readonly total?: number
  readonly next?: string
}

export interface List<A, E> {
  readonly list: (
    query: Query
  ) => Effect.Effect<{ readonly data: ReadonlyArray<A>; readonly pagination: Pagination }, E>
  /** Whether the service rejected a page because its records are too large. */
  readonly isTooLarge: (error: E) => boolean
  /** Receives the number of records, which are counted with the first page if this is given. */
  readonly onTotal?: ((total: number) => void) | undefined
}

/** The progress before the first page. */
export const start: Progress = { after: "", limit: maxLimit }

type Step<A> = readonly [records: ReadonlyArray<A>, progress: Option.Option<Progress>]

/**
 * Reads on in a list, oldest first, so that every record is read once: returns the next records, and the progress after
 * them unless the list has ended.
 *
 * A page that the service rejects because its records are too large is asked for again with half as many; then pages grow
 * by an eighth.
 */
export const next =
  <A, E>({ isTooLarge, list, onTotal }: List<A, E>) =>
  ({ after, limit }: Progress): Effect.Effect<Step<A>, E> => {
    const isCounted = onTotal !== undefined && after === ""
    const page = list({ limit, after, total: isCounted, sortBy: "createdAt", sortOrder: "asc" })
    const read = Effect.map(page, ({ data, pagination: { next, total } }): Step<A> => {
      if (total !== undefined) onTotal?.(total)
      const grown = Math.min(maxLimit, limit + Math.ceil(limit / 8))
      return [data, next === undefined ? Option.none() : Option.some({ after: next, limit: grown })]
    })
    return Effect.catchIf(
      read,
      (error) => limit > 1 && isTooLarge(error),
      () => Effect.succeed<Step<A>>([[], Option.some({ after, limit: Math.floor(limit / 2) })])
    )
  }
