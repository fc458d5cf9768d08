import { Effect, type PlatformError, Result, Stream } from "effect"
import { Csv } from "effect/encoding"
import { nearest } from "../../domain/write/Suggestions.ts"
import { FormatError, type Row } from "./Row.ts"
import * as Rows from "./Rows.ts"

const unknownColumn = (name: string, known: ReadonlyArray<string>) => {
  const suggestions = nearest(name, known)
  return suggestions.length > 0
    ? `Unknown column "${name}"; did you mean ${suggestions.join(" or ")}?`
    : `Unknown column "${name}"; the columns are ${known.join(", ")}`
}

/** Rejects a header with unknown or repeated columns, or without a required one. */
const checkHeader = (header: ReadonlyArray<string>, columns: ReadonlyArray<Rows.Column>) => {
  const known = columns.map(({ path }) => path)
  const problems = [
    ...header.filter((name) => !known.includes(name)).map((name) => unknownColumn(name, known)),
    ...header.filter((name, index) => header.indexOf(name) < index).map((name) => `Column "${name}" appears twice`),
    ...columns
      .filter(({ optional, path }) => !optional && !header.includes(path))
      .map(({ path }) => `Column "${path}" is missing`)
  ]
  return problems.length > 0 ? Effect.fail(new FormatError({ message: problems.slice(0, 3).join("\n") })) : Effect.void
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
