import { Effect, FileSystem, Option, Predicate, Result, type Schema, Stdio, Stream } from "effect"
import { Flag } from "effect/cli"
import type { Json } from "../../domain/schema/Json.ts"
import { didYouMean, nearest } from "../../domain/write/Suggestions.ts"
import { optionalText } from "../CommonFlags.ts"
import { CommandError } from "../Failures.ts"
import * as Rows from "../../domain/files/Rows.ts"

/** The flags of commands that send a record. */
export const flags = {
  set: Flag.String("set").pipe(
    Flag.withDescription(
      "A member and its value, once for each: --set address.city=Utrecht; elements of a list with ;"
    ),
    Flag.atLeast(0)
  ),
  data: optionalText("data", "The record as JSON, @FILE with it, or - for standard input")
}

export interface Input {
  readonly set: ReadonlyArray<string>
  readonly data: Option.Option<string>
}

const decode = (bytes: Uint8Array, name: string) =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => new CommandError({ message: `--data: ${name} is not UTF-8` })
  })

const readText = Effect.fnUntraced(function* (data: string) {
  const fs = yield* FileSystem.FileSystem
  const { stdin } = yield* Stdio.Stdio
  if (data === "-") return yield* decode(Buffer.concat(yield* Stream.runCollect(stdin)), "standard input")
  return data.startsWith("@") ? yield* decode(yield* fs.readFile(data.slice(1)), data.slice(1)) : data
})

const parse = (text: string): Effect.Effect<Json, CommandError> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) => new CommandError({ message: `--data is not JSON: ${String(error)}` })
  }).pipe(
    Effect.flatMap((value) =>
      Predicate.isObject(value)
        ? Effect.succeed(value)
        : Effect.fail(new CommandError({ message: "--data is not a JSON object" }))
    )
  )

/** An empty cell is an absent member, and an absent member does not change. */
const empty = ({ lists, path, segments }: Rows.Column) => {
  const cleared = segments.reduceRight<unknown>(
    (inner, segment) => ({ [segment]: inner }),
    lists.length > 0 ? [] : null
  )
  return `--set ${path}: the value is empty; to clear the member, pass --data '${JSON.stringify(cleared)}'`
}

const cellOf = (columns: ReadonlyArray<Rows.Column>, assignment: string) => {
  const [path = "", ...rest] = assignment.split("=")
  const known = columns.map((column) => column.path)
  const column = columns.find((column) => column.path === path)
  const value = rest.join("=")
  if (column !== undefined && rest.length > 0) {
    const isEmpty = Rows.readCell(column, value) === undefined
    return isEmpty ? Result.fail(empty(column)) : Result.succeed([path, value] as const)
  }
  const hint = didYouMean(nearest(path, known)) || `; the members are ${known.join(", ")}`
  return Result.fail(
    rest.length === 0 ? `--set ${assignment}: write member=value` : `--set ${path}: unknown member${hint}`
  )
}

/** The body that the flags make: the members of `--data`, and those of `--set` over them. */
export const read = Effect.fnUntraced(function* ({ data, set }: Input, payload: Schema.Top) {
  if (set.length === 0 && Option.isNone(data)) {
    return yield* new CommandError({ message: "Pass the record with --set member=value or --data" })
  }
  const base = Option.isSome(data) ? yield* Effect.flatMap(readText(data.value), parse) : {}
  const columns = Rows.columnsOf(payload)
  const cells = yield* Effect.fromResult(Result.all(set.map((assignment) => cellOf(columns, assignment)))).pipe(
    Effect.mapError((message) => new CommandError({ message }))
  )
  return merge(base, Rows.fromCells(columns, Object.fromEntries(cells)))
})

const merge = (base: Json, over: Json): Json => {
  const merged: Record<string, unknown> = { ...base }
  for (const [name, value] of Object.entries(over)) {
    const inner = merged[name]
    const nested = Predicate.isObject(value) && Predicate.isObject(inner)
    merged[name] = nested ? merge(inner, value) : value
  }
  return merged
}
