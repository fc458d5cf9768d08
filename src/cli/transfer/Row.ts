import { Predicate, type Result, Schema } from "effect"

/** The file cannot be read; the rows after this place were not read. */
export class FormatError extends Schema.TaggedError<FormatError>()("FormatError", { message: Schema.String }) {}

/** A record as JSON. */
export type Json = { readonly [member: string]: unknown }

/** A member of a record of any resource. */
export const memberOf = (record: unknown, member: string): unknown =>
  Predicate.isObject(record) ? record[member] : undefined

/** A problem of a row. */
export interface Reason {
  readonly path?: string
  readonly code: string
  readonly message: string
}

/** A row of a file: its position, its source, and its record or the problems of reading it. */
export interface Row {
  readonly at: { readonly line: number } | { readonly item: number }
  readonly source: unknown
  readonly record: Result.Result<unknown, ReadonlyArray<Reason>>
}
