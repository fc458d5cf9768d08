import { Effect, Option, Predicate, Result, Schema, Stream } from "effect"
import { JsonArray } from "effect/encoding"
import * as Rows from "../../domain/files/Rows.ts"
import { parseJson } from "../../domain/schema/Json.ts"
import { inRange } from "../../domain/schema/WholeNumber.ts"
import { limits } from "../../domain/plans/Plan.ts"
import {
  InvalidRequestError,
  PayloadTooLargeError,
  UnsupportedMediaTypeError
} from "../../domain/write/RequestErrors.ts"
import type { FileRow } from "../../repositories/plans/PlanStatements.ts"
import { inRow, rowTooLarge } from "../../repositories/plans/RowForms.ts"
import { csv } from "./CsvRows.ts"

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

/** Bytes that are parsed before other requests run; few enough that a row which is too long begins in an earlier piece. */
const pieceBytes = 64 * 1024

const piecesOf = (chunk: Uint8Array) =>
  Array.from({ length: Math.ceil(chunk.length / pieceBytes) }, (_, index) =>
    chunk.subarray(index * pieceBytes, (index + 1) * pieceBytes)
  )

const utf8 = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Stream.suspend(() => {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    const decode = (chunk?: Uint8Array) =>
      Effect.try({ try: () => decoder.decode(chunk, { stream: chunk !== undefined }), catch: () => notUtf8 })
    return Stream.concat(
      bytes.pipe(
        Stream.flatMap((chunk) => Stream.fromArray(piecesOf(chunk))),
        Stream.mapEffect((piece) => Effect.tap(decode(piece), Effect.yieldNow))
      ),
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
    onFailure: () => [inRow("_refused", "wrongType", "Expected a list of issues with code and message")],
    onSuccess: (issues) => issues.map(({ code, message, path = "" }) => inRow(path, code, message))
  })

/** A record with the number that it gives itself, or that of its place. */
const numbered = (data: unknown, place: number): FileRow => {
  if (!Predicate.isObject(data)) return { row: place, data: Result.succeed(data) }
  const { _refused, _row: row = place, ...record } = data
  if (!isRow(row)) {
    const issue = inRow("_row", "wrongType", `Expected a whole number from 1 to ${maxRow}`)
    return { row: place, data: Result.fail([issue]), named: record }
  }
  return _refused === undefined
    ? { row, data: Result.succeed(record) }
    : { row, data: Result.fail(reasonsOf(_refused)), named: record }
}

/** The text, of which no line is too long; `lines` counts those that ended. */
const limitedLines = <E>(text: Stream.Stream<string, E>, lines: () => number) => {
  let length = 0
  return Stream.mapEffect(text, (piece) => {
    const end = piece.search(/[\r\n]/)
    length += end === -1 ? piece.length : end
    if (length > limits.rowLength) return Effect.fail(rowTooLarge(lines() + 1))
    if (end !== -1) length = piece.length - 1 - Math.max(piece.lastIndexOf("\r"), piece.lastIndexOf("\n"))
    return Effect.succeed(piece)
  })
}

const ndjson = <E>(text: Stream.Stream<string, E>) =>
  Stream.suspend(() => {
    let lines = 0
    return limitedLines(text, () => lines).pipe(
      Stream.splitLines,
      Stream.map((line) => ({ line, row: ++lines })),
      Stream.filter(({ line }) => line.trim() !== ""),
      Stream.map(({ line, row }) =>
        Result.match(parseJson(line), {
          onFailure: (): FileRow => ({ row, data: Result.fail([inRow("", "notJson", "The line is not JSON")]) }),
          onSuccess: (data) => numbered(data, row)
        })
      )
    )
  })

const json = <E>(text: Stream.Stream<string, E>) =>
  Stream.suspend(() => {
    let rows = 0
    return text.pipe(
      // A row that is nested deep is refused by itself, as in the other formats.
      Stream.pipeThroughChannel(
        JsonArray.decodeString({ maxElementSize: limits.rowLength, maxDepth: limits.rowLength })
      ),
      Stream.map((data) => numbered(data, ++rows)),
      Stream.catchIf(
        (error): error is JsonArray.JsonArrayError => Predicate.isTagged(error, "JsonArrayError"),
        ({ kind, message }) =>
          Stream.fail(
            kind === "Limit"
              ? rowTooLarge(rows + 1)
              : InvalidRequestError.inBody("", "wrongType", `Expected a JSON array of records: ${message}`)
          )
      )
    )
  })

const formats = { "application/x-ndjson": ndjson, "application/json": json, "text/csv": csv } as const

type Format = keyof typeof formats

/** The format of a media type; none for one that is not known. */
export const formatOf = Option.liftPredicate((type: string): type is Format => Object.hasOwn(formats, type))

/** The rows of a file in a format, and the bytes of it that were read. */
export const read = (format: Format, bytes: Bytes, resource: Parameters<typeof Rows.columnsSent>[0]) => {
  let length = 0
  let rows = 0
  const text = utf8(limited(bytes, (more) => (length += more)))
  const parsed = formats[format](text, Rows.columnsSent(resource))
  const counted: Rows = Stream.mapEffect(parsed, (row) =>
    ++rows > limits.rows ? Effect.fail(tooManyRows) : Effect.succeed(row)
  )
  return { rows: counted, bytes: () => length }
}

export const unsupported = new UnsupportedMediaTypeError({
  message: "Send the file as application/x-ndjson, application/json or text/csv in UTF-8"
})

export const tooLarge = new PayloadTooLargeError({ message: `A file has at most ${limits.fileBytes / 1024 ** 2} MiB` })

const notUtf8 = InvalidRequestError.inBody("", "invalidEncoding", "The file is not valid UTF-8")
const tooManyRows = InvalidRequestError.inBody("", "tooMany", `Expected at most ${limits.rows} rows`)
