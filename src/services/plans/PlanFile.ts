import { Effect, Option, Predicate, Result, Schema, Stream } from "effect"
import { Csv, JsonArray } from "effect/encoding"
import * as Rows from "../../domain/files/Rows.ts"
import { parseJson } from "../../domain/files/Json.ts"
import { inRange } from "../../domain/schema/WholeNumber.ts"
import { limits } from "../../domain/plans/Plan.ts"
import {
  InvalidRequestError,
  PayloadTooLargeError,
  UnsupportedMediaTypeError
} from "../../domain/write/RequestErrors.ts"
import { didYouMean, nearest } from "../../domain/write/Suggestions.ts"
import type { FileRow } from "../../repositories/plans/PlanStatements.ts"

type Bytes = Stream.Stream<Uint8Array, unknown>
type Rows = Stream.Stream<FileRow, InvalidRequestError | PayloadTooLargeError>

/** The bytes up to the limit of a file, counted. */
const limited = (bytes: Bytes, count: (bytes: number) => number) =>
  bytes.pipe(
    Stream.orDie,
    Stream.mapEffect((chunk) =>
      count(chunk.length) > limits.fileBytes ? Effect.fail(tooLarge) : Effect.succeed(chunk)
    )
  )

const utf8 = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Stream.suspend(() => {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    const decode = (chunk?: Uint8Array) =>
      Effect.try({ try: () => decoder.decode(chunk, { stream: chunk !== undefined }), catch: () => notUtf8 })
    return Stream.concat(
      Stream.mapEffect(bytes, (chunk) => decode(chunk)),
      Stream.fromEffect(Effect.suspend(() => decode()))
    )
  })

const maxRow = 2 ** 31 - 1
const isRow = Schema.is(Schema.Int.check(inRange(1, maxRow)))

const readReasons = Schema.decodeUnknownResult(
  Schema.NonEmptyArray(
    Schema.Struct({ path: Schema.optionalKey(Schema.String), code: Schema.String, message: Schema.String })
  )
)

/** The issues with which a client refuses a row. */
const reasonsOf = (sent: unknown) =>
  Result.match(readReasons(sent), {
    onFailure: () => [inBody("_refused", "wrongType", "Expected a list of issues with code and message")],
    onSuccess: (issues) => issues.map(({ code, message, path = "" }) => inBody(path, code, message))
  })

/** A record with the number that it gives itself, or that of its place. */
const numbered = (data: unknown, place: number): FileRow => {
  if (!Predicate.isObject(data) || Array.isArray(data)) return { row: place, data: Result.succeed(data) }
  const { _refused, _row: row = place, ...record } = data
  if (!isRow(row)) {
    const issue = inBody("_row", "wrongType", `Expected a whole number from 1 to ${maxRow}`)
    return { row: place, data: Result.fail([issue]), named: record }
  }
  return _refused === undefined
    ? { row, data: Result.succeed(record) }
    : { row, data: Result.fail(reasonsOf(_refused)), named: record }
}

const ndjson = <E>(text: Stream.Stream<string, E>): Stream.Stream<FileRow, E> =>
  text.pipe(
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== ""),
    Stream.map(([line, index]) =>
      Result.match(parseJson(line), {
        onFailure: () => ({
          row: index + 1,
          data: Result.fail([inBody("", "notJson", "The line is not JSON")])
        }),
        onSuccess: (data) => numbered(data, index + 1)
      })
    )
  )

const json = <E>(text: Stream.Stream<string, E>) =>
  text.pipe(
    Stream.pipeThroughChannel(JsonArray.decodeString()),
    Stream.catchIf(
      (error): error is JsonArray.JsonArrayError => Predicate.isTagged(error, "JsonArrayError"),
      ({ message }) =>
        Stream.fail(InvalidRequestError.inBody("", "wrongType", `Expected a JSON array of records: ${message}`))
    ),
    Stream.zipWithIndex,
    Stream.map(([data, index]) => numbered(data, index + 1))
  )

/** The header of a CSV file: the paths of members. */
const checkHeader = (header: ReadonlyArray<string>, columns: ReadonlyArray<Rows.Column>) => {
  const known = columns.map(({ path }) => path)
  const issues = header.flatMap((title, index) => {
    if (header.indexOf(title) < index) return [inBody(title, "duplicate", `Column "${title}" appears twice`)]
    if (known.includes(title)) return []
    const similar = nearest(title, known)
    return [inBody(title, "unknownMember", `Unknown column "${title}"${didYouMean(similar)}`)]
  })
  return issues.length > 0 ? Effect.fail(InvalidRequestError.of(issues)) : Effect.succeed(header)
}

const csv = <E>(text: Stream.Stream<string, E>, columns: ReadonlyArray<Rows.Column>) =>
  text.pipe(
    Stream.pipeThroughChannel(Csv.decodeString()),
    Stream.catchIf(
      (error): error is Csv.CsvError => Predicate.isTagged(error, "CsvError"),
      ({ line, message }) => Stream.fail(InvalidRequestError.inBody("", "wrongType", `Line ${line}: ${message}`))
    ),
    Stream.filter((cells) => cells.length > 1 || cells[0]!.trim() !== ""),
    Stream.mapAccumEffect(
      (): { readonly header: ReadonlyArray<string> | undefined; readonly row: number } => ({
        header: undefined,
        row: 0
      }),
      Effect.fnUntraced(function* ({ header, row }, cells: Csv.Row) {
        if (header !== undefined) return [{ header, row: row + 1 }, [cellsOf(header, columns, cells, row + 1)]] as const
        const titles = cells.map((title) => title.trim())
        return [{ header: yield* checkHeader(titles, columns), row }, []] as const
      })
    )
  )

const cellsOf = (
  header: ReadonlyArray<string>,
  columns: ReadonlyArray<Rows.Column>,
  cells: ReadonlyArray<string>,
  row: number
): FileRow => {
  if (cells.length === header.length) {
    const named = Object.fromEntries(header.map((title, index) => [title, cells[index]!]))
    return { row, data: Result.succeed(Rows.fromCells(columns, named)) }
  }
  const message = `The row has ${cells.length} cells and the header has ${header.length}`
  return { row, data: Result.fail([inBody("", "wrongWidth", message)]) }
}

const formats = { "application/x-ndjson": ndjson, "application/json": json, "text/csv": csv } as const

/** The rows of a file in a format, and the bytes of it that were read; none for a format that is not known. */
export const read = (mediaType: string, bytes: Bytes, resource: Parameters<typeof Rows.columnsSent>[0]) => {
  if (!(mediaType in formats)) return Option.none()
  let length = 0
  let rows = 0
  const text = utf8(limited(bytes, (more) => (length += more)))
  const parsed = formats[mediaType as keyof typeof formats](text, Rows.columnsSent(resource))
  const counted: Rows = Stream.mapEffect(parsed, (row) =>
    ++rows > limits.rows ? Effect.fail(tooManyRows) : Effect.succeed(row)
  )
  return Option.some({ rows: counted, bytes: () => length })
}

export const unsupported = new UnsupportedMediaTypeError({
  message: "Send the file as application/x-ndjson, application/json or text/csv in UTF-8"
})

const inBody = (path: string, code: string, message: string) => ({ in: "body" as const, path, code, message })

export const tooLarge = new PayloadTooLargeError({ message: `A file has at most ${limits.fileBytes / 1024 ** 2} MiB` })
const notUtf8 = InvalidRequestError.inBody("", "invalidEncoding", "The file is not valid UTF-8")
const tooManyRows = InvalidRequestError.inBody("", "tooMany", `Expected at most ${limits.rows} rows`)
