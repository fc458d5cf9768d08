import { Array as Arr, Effect, Option, type PlatformError, Result, Schema, Stream } from "effect"
import { Csv, JsonArray, Ndjson } from "effect/encoding"
import * as CsvRows from "./CsvRows.ts"
import { FormatError, type Row } from "./Row.ts"
import type { Resource } from "./Resource.ts"
import * as Rows from "./Rows.ts"

export const formats = ["csv", "json", "ndjson"] as const
export type Format = (typeof formats)[number]

const extensions: ReadonlyArray<readonly [string, Format]> = [
  ...formats.map((name) => [name, name] as const),
  ["jsonl", "ndjson"]
]

/** The format of a file, by its extension. */
export const formatOf = (file: string): Option.Option<Format> =>
  Option.map(
    Arr.findFirst(extensions, ([extension]) => file.toLowerCase().endsWith(`.${extension}`)),
    ([, format]) => format
  )

/** Fails for other encodings, in which spreadsheets save by default; decoding them leniently would damage every accent. */
const utf8 = (bytes: Stream.Stream<Uint8Array, PlatformError.PlatformError>) =>
  Stream.suspend(() => {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    const decode = (chunk?: Uint8Array) =>
      Effect.try({
        try: () => decoder.decode(chunk, { stream: chunk !== undefined }),
        catch: () => new FormatError({ message: "The file is not UTF-8; save it as UTF-8 (in Excel: CSV UTF-8)" })
      })
    return Stream.concat(
      Stream.mapEffect(bytes, (chunk) => decode(chunk)),
      Stream.fromEffect(Effect.suspend(() => decode()))
    )
  })

type Text = ReturnType<typeof utf8>

const parseLine = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

const ndjsonRow = (line: string, index: number): Row => {
  const record = Result.mapError(parseLine(line), () => [{ code: "notJson", message: "The line is not JSON" }])
  return { at: { line: index + 1 }, source: Result.getOrElse(record, () => line), record }
}

const readNdjson = (text: Text): Stream.Stream<Row, PlatformError.PlatformError | FormatError> =>
  text.pipe(
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== ""),
    Stream.map(([line, index]) => ndjsonRow(line, index))
  )

const readJson = (text: Text): Stream.Stream<Row, PlatformError.PlatformError | FormatError> =>
  text.pipe(
    Stream.pipeThroughChannel(JsonArray.decodeString()),
    Stream.catchTag("JsonArrayError", ({ message }) =>
      Stream.fail(new FormatError({ message: `Expected one JSON array of records: ${message}` }))
    ),
    Stream.zipWithIndex,
    Stream.map(([record, index]) => ({ at: { item: index + 1 }, source: record, record: Result.succeed(record) }))
  )

/** Rejects resources with required members that a table cannot hold. */
const tabular = ({ create, name }: Resource) => {
  const missing = Rows.missingFrom(create)
  return missing.length === 0
    ? Effect.void
    : Effect.fail(
        new FormatError({
          message: `A CSV file cannot hold the ${missing.join(", ")} of ${name}; use json or ndjson`
        })
      )
}

/** Reads a file row by row, in constant memory. Fails only for problems of the whole file. */
export const read =
  (format: Format, resource: Resource) => (bytes: Stream.Stream<Uint8Array, PlatformError.PlatformError>) => {
    const text = utf8(bytes)
    switch (format) {
      case "csv":
        return Stream.unwrap(Effect.as(tabular(resource), CsvRows.read(Rows.columnsSent(resource))(text)))
      case "json":
        return readJson(text)
      case "ndjson":
        return readNdjson(text)
    }
  }

/** Writes encoded records in a form that `read` can read. */
export const write =
  (format: Format, resource: Resource) =>
  <E>(
    records: Stream.Stream<unknown, E>
  ): Stream.Stream<string, E | FormatError | JsonArray.JsonArrayError | Ndjson.NdjsonError> => {
    const columns = Rows.columnsReadBack(resource)
    switch (format) {
      case "csv":
        return Stream.unwrap(Effect.as(tabular(resource), records)).pipe(
          Stream.map((record) => Rows.toCells(columns, record)),
          Stream.pipeThroughChannel(Csv.encodeString({ columns: columns.map(({ path }) => path), headers: true }))
        )
      case "json":
        return Stream.pipeThroughChannel(records, JsonArray.encodeString())
      case "ndjson":
        return Stream.pipeThroughChannel(records, Ndjson.encodeString())
    }
  }
