import type { Pagination } from "../query/Pagination.ts"

/**
 * A record as the JSON text of its response schema, built by PostgreSQL and passed through to the answer unread. The
 * type remembers which record it is; nothing between repository and answer looks inside.
 */
export type Encoded<A> = string & { readonly "~encoded": A }

/** The text of a value that has the members of a record in JSON. */
export const encodedOf = <A>(value: unknown) => JSON.stringify(value) as Encoded<A>

/** The text of an array of records. */
export const encodedArray = <A>(records: ReadonlyArray<Encoded<A>>) =>
  `[${records.join(",")}]` as Encoded<ReadonlyArray<A>>

/** The JSON array of a page of records, and where the page stands. */
export interface EncodedPage<A> {
  readonly data: Encoded<ReadonlyArray<A>>
  readonly pagination: Pagination
  /** Identifies the set of records that belong to another one, on every page of it. */
  readonly setTag?: string
}
