import { Effect, Option, Predicate, Result, Schema, Stream } from "effect"
import { JsonArray } from "effect/encoding"
import { limits } from "../../domain/plans/Plan.ts"
import {
  InvalidRequestError,
  PayloadTooLargeError,
  UnsupportedMediaTypeError
} from "../../domain/write/RequestErrors.ts"
import type { FileRow } from "../../repositories/plans/PlanStatements.ts"

type Bytes = Stream.Stream<Uint8Array, unknown>
type Rows = Stream.Stream<FileRow, InvalidRequestError | PayloadTooLargeError>

/** Rows of a file. Each of them is stored. */
const maxRows = 250_000

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

const parseLine = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** A record with the number that it gives itself, or that of its place. */
const numbered = (data: unknown, place: number): FileRow => {
  if (!Predicate.isObject(data) || !("_row" in data)) return { row: place, data: Result.succeed(data) }
  const { _row: row, ...record } = data
  return Number.isInteger(row) && Number(row) > 0
    ? { row: Number(row), data: Result.succeed(record) }
    : { row: place, data: Result.fail([inBody("_row", "wrongType", "Expected a whole number from 1")]) }
}

const ndjson = <E>(text: Stream.Stream<string, E>): Stream.Stream<FileRow, E> =>
  text.pipe(
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== ""),
    Stream.map(([line, index]) =>
      Result.match(parseLine(line), {
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

const formats = { "application/x-ndjson": ndjson, "application/json": json } as const

/** The rows of a file in a format, and the bytes of it that were read; none for a format that is not known. */
export const read = (mediaType: string, bytes: Bytes) => {
  if (!(mediaType in formats)) return Option.none()
  let length = 0
  let rows = 0
  const text = utf8(limited(bytes, (more) => (length += more)))
  const parsed = formats[mediaType as keyof typeof formats](text)
  const counted: Rows = Stream.mapEffect(parsed, (row) =>
    ++rows > maxRows ? Effect.fail(tooManyRows) : Effect.succeed(row)
  )
  return Option.some({ rows: counted, bytes: () => length })
}

export const unsupported = new UnsupportedMediaTypeError({
  message: "Send the file as application/x-ndjson, application/json or text/csv in UTF-8"
})

const inBody = (path: string, code: string, message: string) => ({ in: "body" as const, path, code, message })

export const tooLarge = new PayloadTooLargeError({ message: `A file has at most ${limits.fileBytes / 1024 ** 2} MiB` })
const notUtf8 = InvalidRequestError.inBody("", "invalidEncoding", "The file is not valid UTF-8")
const tooManyRows = InvalidRequestError.inBody("", "tooMany", `Expected at most ${maxRows} rows`)
