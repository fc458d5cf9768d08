import { Effect, Option, type PlatformError, Result, Stream } from "effect"
import { Csv } from "effect/encoding"
import { nearest } from "../../domain/write/Suggestions.ts"
import { FormatError, type Row } from "./Row.ts"
import * as Rows from "./Rows.ts"

const lastOf = (path: string) => path.slice(path.lastIndexOf(".") + 1)

/** The columns that a name resembles, or the last part of whose path it resembles: `contact.phone` for `phone`. */
const similarTo = (name: string, known: ReadonlyArray<string>) => {
  const similar = nearest(name, known)
  if (similar.length > 0) return similar
  const last = nearest(lastOf(name), known.map(lastOf), 1)
  return known.filter((path) => last.includes(lastOf(path))).slice(0, 3)
}

/** One line for each unknown column, and the known ones once. */
const unknownColumns = (names: ReadonlyArray<string>, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (names.length === 0) return []
  const lines = names.map((name) => {
    const similar = similarTo(name, known)
    return `Unknown column "${name}"${similar.length > 0 ? `; did you mean ${similar.join(" or ")}?` : ""}`
  })
  const isListed = lines.some((line) => !line.endsWith("?"))
  return isListed ? [...lines, `The columns are ${known.join(", ")}`] : lines
}

/** A header that is not separated by commas is one column. */
const otherSeparator = (header: ReadonlyArray<string>) => {
  const [only = "", ...others] = header
  const separator = [";", "\t", "|"].find((candidate) => only.includes(candidate))
  return others.length > 0 || separator === undefined
    ? Option.none<string>()
    : Option.some(
        `The columns are separated by ${separator === "\t" ? "tabs" : `"${separator}"`}; save the file with commas`
      )
}

/** Rejects a header with unknown or repeated columns, or without a required one. */
const checkHeader = (header: ReadonlyArray<string>, columns: ReadonlyArray<Rows.Column>) => {
  const known = columns.map(({ path }) => path)
  const separator = otherSeparator(header)
  if (Option.isSome(separator)) return Effect.fail(new FormatError({ message: separator.value }))
  const problems = [
    ...unknownColumns(
      header.filter((name) => !known.includes(name)),
      known
    ),
    ...header.filter((name, index) => header.indexOf(name) < index).map((name) => `Column "${name}" appears twice`),
    ...columns
      .filter(({ optional, path }) => !optional && !header.includes(path))
      .map(({ path }) => `Column "${path}" is missing`)
  ]
  return problems.length > 0 ? Effect.fail(new FormatError({ message: problems.join("\n") })) : Effect.void
}

const rowOf = (
  header: ReadonlyArray<string>,
  columns: ReadonlyArray<Rows.Column>,
  cells: ReadonlyArray<string>,
  line: number
): Row => {
  if (cells.length !== header.length) {
    const message = `The row has ${cells.length} cells and the header has ${header.length}`
    return { at: { line }, source: cells, record: Result.fail([{ code: "wrongWidth", message }]) }
  }
  const source = Object.fromEntries(header.map((name, index) => [name, cells[index]!]))
  return { at: { line }, source, record: Result.succeed(Rows.fromCells(columns, source)) }
}

const lineBreaks = (cells: ReadonlyArray<string>) =>
  cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0)

interface State {
  readonly header: ReadonlyArray<string> | undefined
  readonly line: number
}

/** The rows of a CSV file. The library's own header mode is not used: it fails the whole file at the first short row. */
export const read =
  (columns: ReadonlyArray<Rows.Column>) => (text: Stream.Stream<string, PlatformError.PlatformError | FormatError>) =>
    text.pipe(
      Stream.pipeThroughChannel(Csv.decodeString()),
      Stream.catchTag("CsvError", ({ line, message }) =>
        Stream.fail(new FormatError({ message: `Line ${line}: ${message}` }))
      ),
      Stream.mapAccumEffect(
        (): State => ({ header: undefined, line: 1 }),
        Effect.fnUntraced(function* ({ header, line }: State, cells: Csv.Row) {
          const next = line + 1 + lineBreaks(cells)
          const rows = (header: State["header"], rows: ReadonlyArray<Row>) => [{ header, line: next }, rows] as const
          if (cells.length === 1 && cells[0]!.trim() === "") return rows(header, [])
          if (header !== undefined) return rows(header, [rowOf(header, columns, cells, line)])
          const names = cells.map((name) => name.trim())
          yield* checkHeader(names, columns)
          return rows(names, [])
        })
      )
    )
