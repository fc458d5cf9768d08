import { Effect, Option } from "effect"
import { maxLimit } from "../domain/query/PageLimit.ts"

/** How far a list has been read. */
export interface Progress {
  /** The key of the last record, empty at first. */
  readonly last: string
  /** How many records the list had up to it. */
  readonly position: number
  /** The number of records to ask for. */
  readonly most: number
}

/** The query for a page. */
export interface Query {
  readonly limit: number
  readonly page: number
  readonly sortBy: "createdAt"
  readonly sortOrder: "asc"
}

export interface List<A, E> {
  readonly list: (
    query: Query
  ) => Effect.Effect<{ readonly data: ReadonlyArray<A>; readonly pagination: { readonly total: number } }, E>
  /** Orders records as the list does: by `createdAt`, then by `uuid`. Neither ever changes. */
  readonly keyOf: (record: A) => string
  /** Whether the service rejected a page because its records are too large. */
  readonly isTooLarge: (error: E) => boolean
  readonly onPage?: ((total: number) => void) | undefined
}

/** The progress before the first page. */
export const start: Progress = { last: "", position: 0, most: maxLimit }

/**
 * The page of at most `most` records that holds the one before `position` and as many as possible from there on; only that
 * at `position` if no page holds both, which happens where `most` is small.
 */
const pageOver = (position: number, most: number) => {
  if (position === 0) return { limit: most, page: 1 }
  let best = { limit: 1, page: position + 1 }
  let gain = 0
  for (let limit = most; limit - 1 > gain; limit--) {
    const page = Math.floor((position - 1) / limit) + 1
    if (page * limit - position <= gain) continue
    best = { limit, page }
    gain = page * limit - position
  }
  return best
}

/**
 * Reads on in a list, oldest first, so that every record is read once: returns the next records, and the progress after
 * them unless the list has ended.
 *
 * A page has a number, and a record that is deleted while the list is read moves all later ones forward. Therefore each page
 * overlaps the previous one: what follows a record that was read already in one page follows it in the list. Where a page
 * begins after the last record, the position of that record is looked up again.
 *
 * A page that the service rejects because its records are too large is asked for again with half as many; then pages grow
 * by an eighth.
 */
export const next = <A, E>({ isTooLarge, keyOf, list, onPage }: List<A, E>) => {
  const load = (limit: number, page: number) =>
    Effect.map(list({ limit, page, sortBy: "createdAt", sortOrder: "asc" }), ({ data, pagination }) => ({
      offset: (page - 1) * limit,
      rows: data,
      total: pagination.total
    }))

  /** Whether the record at an offset has been read already. */
  const isRead = (offset: number, last: string) =>
    Effect.map(load(1, offset + 1), ({ rows: [row] }) => row !== undefined && keyOf(row) <= last)

  /** How many records there are up to the last one read: between `low` and `high`. */
  const locate = (last: string, low: number, high: number): Effect.Effect<number, E> => {
    if (low >= high) return Effect.succeed(low)
    const middle = Math.ceil((low + high) / 2)
    return Effect.flatMap(isRead(middle - 1, last), (found) =>
      found ? locate(last, middle, high) : locate(last, low, middle - 1)
    )
  }

  type Step = readonly [records: ReadonlyArray<A>, progress: Option.Option<Progress>]

  return Effect.fnUntraced(function* ({ last, most, position }: Progress): Effect.fn.Return<Step, E> {
    const { limit, page } = pageOver(position, most)
    const loaded = yield* load(limit, page).pipe(
      Effect.asSome,
      Effect.catchIf(
        (error) => limit > 1 && isTooLarge(error),
        () => Effect.succeedNone
      )
    )
    if (Option.isNone(loaded)) return [[], Option.some({ last, position, most: Math.floor(limit / 2) })]
    const { offset, rows, total } = loaded.value
    const follows =
      offset === 0 ||
      (rows[0] !== undefined && keyOf(rows[0]) <= last) ||
      // The preceding record is read later than a page that does not hold it: a deletion can only move it forward.
      (offset === position && (yield* isRead(position - 1, last)))
    if (!follows) {
      const moved = yield* locate(last, 0, Math.min(offset, total))
      return [[], Option.some({ last, position: moved, most })]
    }
    onPage?.(total)
    const fresh = rows.filter((row) => keyOf(row) > last)
    const end = offset + rows.length
    const progress = {
      last: fresh.length === 0 ? last : keyOf(fresh.at(-1)!),
      position: end,
      most: Math.min(maxLimit, most + Math.ceil(most / 8))
    }
    return [fresh, end < total ? Option.some(progress) : Option.none()]
  })
}
