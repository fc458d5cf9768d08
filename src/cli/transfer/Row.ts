import { type Result, Schema } from "effect"

/** The file as a whole cannot be read; nothing after this place was looked at. */
export class FormatError extends Schema.TaggedError<FormatError>()("FormatError", { message: Schema.String }) {}

/** A record as JSON has it. */
export type Json = { readonly [member: string]: unknown }

/** Something that is wrong with one row. */
export interface Reason {
  readonly path?: string
  readonly code: string
  readonly message: string
}

/** One row of a file: where it stands, what stands there, and the record it describes as far as it could be read. */
export interface Row {
  readonly at: { readonly line: number } | { readonly item: number }
  readonly source: unknown
  readonly record: Result.Result<unknown, ReadonlyArray<Reason>>
}
