import { Predicate, Result, type Schema, SchemaAST, Stream } from "effect"
import { JsonArray } from "effect/encoding"
import { type Json, parseJson } from "../../domain/schema/Json.ts"
import { opened } from "../../domain/write/NullObjects.ts"
import { FormatError, maxLength, type Row } from "./Row.ts"
import { reasonsTitle, titleOf } from "./Header.ts"
import { knownMembers, withValue } from "./Members.ts"

const ndjsonRow = (line: string, index: number): Row => {
  const record = Result.mapError(parseJson(line), () => [{ code: "notJson", message: "The line is not JSON" }])
  return { at: { line: index + 1 }, source: Result.getOrElse(record, () => line), record }
}

/** The rows of NDJSON, one on each line. */
export const ndjson = <E, R>(text: Stream.Stream<string, E, R>): Stream.Stream<Row, E, R> =>
  text.pipe(
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== ""),
    Stream.map(([line, index]) => ndjsonRow(line, index))
  )

/** The rows of a JSON array. */
export const json = <E, R>(text: Stream.Stream<string, E, R>): Stream.Stream<Row, E | FormatError, R> =>
  text.pipe(
    Stream.pipeThroughChannel(JsonArray.decodeString({ maxElementSize: maxLength })),
    Stream.catchIf(
      (error) => error instanceof JsonArray.JsonArrayError,
      ({ message }) => Stream.fail(new FormatError({ message: `Expected one JSON array of records: ${message}` }))
    ),
    Stream.zipWithIndex,
    Stream.map(([record, index]) => ({ at: { item: index + 1 }, source: record, record: Result.succeed(record) }))
  )

interface Options {
  readonly schema: Schema.Top
  readonly map: ReadonlyMap<string, string>
  readonly ignoreUnknown: boolean
}

/** The record with its members under our names, without the reasons of an earlier import. */
export const renamed = ({ ignoreUnknown, map, schema }: Options) => {
  const ast = SchemaAST.toEncoded(schema.ast)
  /** A value in an object that the record has null for is not lost. */
  const withMapped = (record: Json, segments: ReadonlyArray<string>, value: unknown) =>
    withValue(value === null ? record : opened(record, ast, segments), segments, value)

  return (record: unknown): unknown => {
    if (!Predicate.isObject(record)) return record
    const members = Object.entries(record)
      .filter(([name]) => name !== reasonsTitle)
      .map(([name, value]) => ({ name, value, path: map.get(titleOf(name)) }))
    const kept: Json = Object.fromEntries(
      members.flatMap(({ name, path, value }) => (path === undefined ? [[name, value]] : []))
    )
    const own = members.reduce(
      (current, { path, value }) => (path === undefined ? current : withMapped(current, path.split("."), value)),
      kept
    )
    return ignoreUnknown ? knownMembers(schema, own) : own
  }
}
