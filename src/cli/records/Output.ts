import { Console, Effect, Option, Stdio, Terminal } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { Operation } from "../../api/Operations.ts"
import { didYouMean, nearest } from "../../domain/write/Suggestions.ts"
import { optionalText, toggle } from "../CommonFlags.ts"
import { CommandError } from "../Failures.ts"
import * as Progress from "../Progress.ts"
import * as Table from "./Table.ts"

/** The flags of commands that print records. */
export const flags = {
  json: toggle("json", "Print JSON, as without a terminal"),
  csv: toggle("csv", "Print CSV"),
  fields: optionalText("fields", "The fields to print, comma-separated: name,address.city")
}

export interface Input {
  readonly json: boolean
  readonly csv: boolean
  readonly fields: Option.Option<string>
}

/** The given fields; fails for those that the records do not have, and names the nearest ones. */
const chosen = ({ fields, lists }: Pick<Operation, "fields" | "lists">, given: string) =>
  Effect.forEach(given.split(","), (part) => {
    const name = part.trim()
    const isKnown = [...fields, ...lists].some((field) => field === name || field.startsWith(`${name}.`))
    if (isKnown) return Effect.succeed(name)
    const hint = didYouMean(nearest(name, fields)) || `; the fields are ${fields.join(", ")}`
    return Effect.fail(new CommandError({ message: `Unknown field "${name}"${hint}` }))
  })

const picked = (record: Json, fields: ReadonlyArray<string>): Json =>
  Object.fromEntries(fields.map((field) => [field, Table.valueAt(record, field)]))

/** Whether to print JSON: as asked, or without a terminal. */
export const isJson = Effect.fnUntraced(function* (asked: boolean) {
  const stdio = yield* Stdio.Stdio
  return asked || !(yield* stdio.stdoutIsTerminal)
})

const defaultWidth = 120

export const tableWidth = Effect.gen(function* () {
  const columns = yield* (yield* Terminal.Terminal).columns
  return columns > 0 ? columns : defaultWidth
})

/** Says how many records of a list a page has, unless it has all. */
export const printRest = (shown: number, total: number, more = "") =>
  total > shown
    ? Console.error(`${Progress.count(shown)} of ${Progress.count(total)}; --page and --limit show others${more}`)
    : Effect.void

/** Prints records as a table on a terminal, or as a page as JSON; `only` prints a single record. */
export const print = Effect.fnUntraced(function* (
  { csv, fields: given, json }: Input,
  operation: Pick<Operation, "fields" | "lists">,
  records: ReadonlyArray<Json>,
  only: boolean
) {
  const shown = Option.isSome(given) ? yield* chosen(operation, given.value) : operation.fields
  if (csv) return yield* Console.log(Table.csv(records, shown))
  if (yield* isJson(json)) {
    const values = Option.isSome(given) ? records.map((record) => picked(record, shown)) : records
    return yield* Console.log(JSON.stringify(only ? values[0] : values, undefined, 2))
  }
  if (only && Option.isNone(given)) return yield* Console.log(Table.cardText(records[0]!))
  if (records.length === 0) return yield* Console.log("No records")
  yield* Console.log(Table.table(records, { fields: shown, given: Option.isSome(given), width: yield* tableWidth }))
})
