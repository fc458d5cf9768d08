import { Array as Arr, Effect, Option, Result, Schema, Stream } from "effect"
import { Csv, JsonArray, Ndjson } from "effect/encoding"
import { nearest } from "../domain/Suggestions.ts"
import type { Resource } from "./Resources.ts"
import * as Rows from "./Rows.ts"

export const formats = ["csv", "json", "ndjson"] as const
export type Format = (typeof formats)[number]

/** The file as a whole cannot be read; nothing after this place was looked at. */
export class FormatError extends Schema.TaggedError<FormatError>()("FormatError", { message: Schema.String }) {}

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

/** The format that a file's name tells. */
export const formatOf = (file: string): Option.Option<Format> =>
  Arr.findFirst(formats, (format) => file.toLowerCase().endsWith(`.${format}`)).pipe(
    Option.orElse(() => (file.toLowerCase().endsWith(".jsonl") ? Option.some("ndjson" as const) : Option.none()))
  )

const malformed = (code: string, message: string) => Result.fail([{ code, message }])

/** Spreadsheets like to save in the encoding of the country; reading that as UTF-8 would quietly spoil every accent. */
const utf8 = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E | FormatError, R> =>
  Stream.suspend(() => {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    const decode = (chunk?: Uint8Array) =>
      Effect.try({
        try: () => decoder.decode(chunk, { stream: chunk !== undefined }),
        catch: () => new FormatError({ message: "The file is not UTF-8; save it as UTF-8 (in Excel: CSV UTF-8)" })
      })
    return Stream.concat(Stream.mapEffect(bytes, decode), Stream.fromEffect(Effect.suspend(decode)))
  })

const quoted = (names: ReadonlyArray<string>) => names.map((name) => `"${name}"`).join(", ")

/** Refuses a header that names what is not a column, or lacks one that every record needs. */
const checkHeader = (header: ReadonlyArray<string>, columns: ReadonlyArray<Rows.Column>) => {
  const known = columns.map(({ path }) => path)
  const problems = header.flatMap((name, index) => {
    if (header.indexOf(name) < index) return [`The column "${name}" is there twice`]
    if (known.includes(name)) return []
    const suggestions = nearest(name, known)
    return [
      suggestions.length > 0
        ? `Unknown column "${name}"; did you mean ${suggestions.join(" or ")}?`
        : `Unknown column "${name}"; the columns are ${known.join(", ")}`
    ]
  })
  const absent = columns.filter(({ optional, path }) => !optional && !header.includes(path)).map(({ path }) => path)
  const all = absent.length > 0 ? [...problems, `A column is missing: ${quoted(absent)}`] : problems
  return all.length > 0 ? Effect.fail(new FormatError({ message: all.slice(0, 3).join("\n") })) : Effect.void
}

const lineBreaks = (cells: ReadonlyArray<string>) =>
  cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0)

const csvRow = (header: ReadonlyArray<string>, columns: ReadonlyArray<Rows.Column>, cells: ReadonlyArray<string>, line: number): Row => {
  if (cells.length !== header.length) {
    const record = malformed("wrongWidth", `The row has ${cells.length} cells, the header ${header.length}`)
    return { at: { line }, source: cells, record }
  }
  const source = Object.fromEntries(header.map((name, index) => [name, cells[index]!]))
  return { at: { line }, source, record: Result.succeed(Rows.fromCells(columns, source)) }
}

/** Rows are read without their header, because the reader's own error for a row of the wrong width ends the file. */
const readCsv =
  (columns: ReadonlyArray<Rows.Column>) =>
  <E, R>(text: Stream.Stream<string, E, R>) =>
    text.pipe(
      Stream.pipeThroughChannel(Csv.decodeString()),
      Stream.mapAccumEffect(
        (): { readonly header: ReadonlyArray<string> | undefined; readonly line: number } => ({ header: undefined, line: 1 }),
        Effect.fnUntraced(function* ({ header, line }, cells: ReadonlyArray<string>) {
          const next = line + 1 + lineBreaks(cells)
          if (cells.length === 1 && cells[0]!.trim() === "") return [{ header, line: next }, []] as const
          if (header !== undefined) return [{ header, line: next }, [csvRow(header, columns, cells, line)]] as const
          const names = cells.map((name) => name.trim())
          yield* checkHeader(names, columns)
          return [{ header: names, line: next }, []] as const
        })
      ),
      Stream.catchTag("CsvError", ({ line, message }) => Stream.fail(new FormatError({ message: `Line ${line}: ${message}` })))
    )

const parseLine = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

const readNdjson = <E, R>(text: Stream.Stream<string, E, R>) =>
  text.pipe(
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== ""),
    Stream.map(([line, index]): Row => ({
      at: { line: index + 1 },
      source: line,
      record: Result.orElse(parseLine(line), () => malformed("notJson", "The line is not JSON"))
    })),
    Stream.map((row): Row => (Result.isSuccess(row.record) ? { ...row, source: row.record.success } : row))
  )

const readJson = <E, R>(text: Stream.Stream<string, E, R>) =>
  text.pipe(
    Stream.pipeThroughChannel(JsonArray.decodeString()),
    Stream.zipWithIndex,
    Stream.map(([record, index]): Row => ({ at: { item: index + 1 }, source: record, record: Result.succeed(record) })),
    Stream.catchTag("JsonArrayError", ({ message }) =>
      Stream.fail(new FormatError({ message: `Expected a JSON array of records: ${message}` }))
    )
  )

/** Reads a file row by row; only what is wrong with the file as a whole fails. */
export const read =
  (format: Format, resource: Resource) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Row, E | FormatError, R> => {
    const text = utf8(bytes)
    switch (format) {
      case "csv":
        return readCsv(Rows.columnsOf(resource.create))(text)
      case "json":
        return readJson(text)
      case "ndjson":
        return readNdjson(text)
    }
  }

/** Writes encoded records in a format that `read` reads back. */
export const write =
  (format: Format, resource: Resource) =>
  <E, R>(records: Stream.Stream<unknown, E, R>) => {
    const columns = Rows.columnsOf(resource.record)
    switch (format) {
      case "csv":
        return records.pipe(
          Stream.map((record) => Rows.toCells(columns, record)),
          Stream.pipeThroughChannel(Csv.encodeString({ columns: columns.map(({ path }) => path), headers: true }))
        )
      case "json":
        return records.pipe(Stream.pipeThroughChannel(JsonArray.encodeString()), Stream.catchTag("JsonArrayError", Stream.die))
      case "ndjson":
        return records.pipe(Stream.pipeThroughChannel(Ndjson.encodeString()), Stream.catchTag("NdjsonError", Stream.die))
    }
  }
