import { Array as Arr, Effect, Predicate, Scope, Struct } from "effect"
import * as RefusedFile from "./RefusedFile.ts"
import { placeOf, type Reason, type Row } from "./Row.ts"
import type { ExportFormat, Format } from "./Format.ts"
import { reasonsTitle } from "./Header.ts"
import { isTableSource, type TableSource } from "./Table.ts"

/** A row that was not imported, with the reasons. */
export interface RefusedRow {
  readonly row: Row
  readonly reasons: ReadonlyArray<Reason>
}

/** The reasons in one line: `line 4: name: Required; contact.phone: …`. */
export const textOf = ({ reasons, row }: RefusedRow): string => {
  const texts = reasons.map(({ message, path }) => (path === undefined ? message : `${path}: ${message}`))
  return `${placeOf(row.at)}: ${texts.join("; ")}`
}

/** The format of the rows that are refused; a workbook becomes CSV. */
const exportFormatFor = (format: Format): ExportFormat => (format === "xlsx" ? "csv" : format)

/** The file of the rows that are refused, unless named. */
export const defaultFile = (file: string, format: Format): string =>
  `${file === "-" ? "stdin" : file}.refused.${exportFormatFor(format)}`

const needsQuotes = (cell: string, delimiter: string) =>
  /["\r\n]/.test(cell) || cell.includes(delimiter) || cell.trim() !== cell

const csvLine = (cells: ReadonlyArray<string>, delimiter: string) =>
  `${cells.map((cell) => (needsQuotes(cell, delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter)}\r\n`

/** Without the reasons of an earlier import. */
const withoutReasons = ({ titles }: TableSource, cells: ReadonlyArray<string>) => {
  const at = titles.indexOf(reasonsTitle)
  return at === -1 ? cells : cells.filter((_, index) => index !== at)
}

/**
 * The cells with the reasons under their title. A row of another width keeps another one, so that it is refused again unless
 * it is corrected; spreadsheets leave out the empty cell at the end of one that was too short.
 */
const withReasons = (cells: ReadonlyArray<string>, reasons: string, width: number) => {
  const missing = width - cells.length
  return missing > 0
    ? [...cells, ...Arr.replicate("", missing), reasons, ""]
    : [...cells.slice(0, width), reasons, ...cells.slice(width)]
}

const csv = (delimiter: string) => {
  let isFirst = true
  return (refused: RefusedRow): string => {
    const { source } = refused.row
    if (!isTableSource(source)) return ""
    // Without the mark, spreadsheets do not read UTF-8.
    const titles = withoutReasons(source, source.titles)
    const header = isFirst ? `\uFEFF${csvLine([...titles, reasonsTitle], delimiter)}` : ""
    isFirst = false
    const cells = withReasons(withoutReasons(source, source.cells), textOf(refused), titles.length)
    return header + csvLine(cells, delimiter)
  }
}

const entryOf = ({ reasons, row }: RefusedRow): string => {
  const { source } = row
  const own = Predicate.isObject(source) ? source : { _source: source }
  return JSON.stringify({
    ...own,
    [reasonsTitle]: reasons.map((reason) => ({ ...row.at, ...Struct.omit(reason, ["reference"]) }))
  })
}

/**
 * Writes refused rows as they are in the file, in its format, with the reasons in a last column, so that the file can be
 * corrected and imported again. The first row creates the file.
 */
export const make = Effect.fnUntraced(function* (
  file: string,
  { delimiter, format }: { readonly format: Format; readonly delimiter: string }
) {
  const inner = yield* Scope.make()
  const write = yield* Scope.provide(RefusedFile.writer(file), inner)
  let end: Effect.Effect<void> = Effect.void
  // A JSON array is ended before its file is closed.
  yield* Effect.addFinalizer((exit) =>
    Effect.ensuring(
      Effect.suspend(() => end),
      Scope.close(inner, exit)
    )
  )
  if (exportFormatFor(format) === "csv") {
    const toText = csv(delimiter)
    return (refused: RefusedRow) => write(toText(refused))
  }
  if (format === "ndjson") return (refused: RefusedRow) => write(`${entryOf(refused)}\n`)
  let rows = 0
  return (refused: RefusedRow) => {
    end = Effect.orDie(write("\n]\n"))
    return write(`${rows++ === 0 ? "[\n" : ",\n"}${entryOf(refused)}`)
  }
})
