import { type Result, Schema, type SchemaIssue, Struct } from "effect"
import { limits } from "../../domain/plans/Plan.ts"
import { describe } from "../../domain/write/Issues.ts"

/** The file cannot be read; the rows after this place were not read. */
export class FormatError extends Schema.TaggedError<FormatError>()("FormatError", { message: Schema.String }) {}

/** Longer than any row that is imported: one that is too long is refused, and does not end the import. */
export const maxLength = limits.fileBytes

/** A problem of a row. */
export interface Reason {
  readonly path?: string
  readonly code: string
  readonly message: string
  /** The name that no record has. */
  readonly reference?: string
}

/** The problems that a schema finds in a record. */
export const reasonsIn = (issue: SchemaIssue.Issue): ReadonlyArray<Reason> =>
  describe(issue, "body").map(Struct.omit(["in"]))

/** A position in a file: a line of text, an item of a JSON array, a row of a sheet. */
export type Place = { readonly line: number } | { readonly item: number } | { readonly row: number }

/** The number of a position. */
export const numberOf = (at: Place): number => ("line" in at ? at.line : "item" in at ? at.item : at.row)

/** A position as messages show it, or the one of another number in the same file: `line 4`. */
export const placeOf = (at: Place, number = numberOf(at)): string =>
  `${"line" in at ? "line" : "item" in at ? "item" : "row"} ${number}`

/** A row of a file: its position, its source, and its record or the problems of reading it. */
export interface Row {
  readonly at: Place
  readonly source: unknown
  /** The business key as the file has it; absent where it cannot be read. */
  readonly key?: string
  readonly record: Result.Result<unknown, ReadonlyArray<Reason>>
}
