import { Predicate, Record } from "effect"
import * as FilterSyntax from "../../domain/query/FilterSyntax.ts"
import { uuidPattern } from "../../domain/schema/UuidPattern.ts"
import { conditionsOf, problemOf, type Tests } from "../Filters.ts"
import { isHeaderValue } from "../Sendable.ts"
import type { CallOptions } from "./Call.ts"

type QueryValue = string | number | boolean | ReadonlyArray<string> | Date | Tests | undefined
export interface Query {
  readonly [name: string]: QueryValue
}

const isList = (value: ReadonlyArray<string> | Tests): value is ReadonlyArray<string> => Array.isArray(value)

/** A value in a query: a list is joined by commas, a date is that of the API, and another object is a filter. */
const textOf = (value: QueryValue): string | undefined => {
  if (value === undefined) return undefined
  if (typeof value !== "object") return String(value)
  if (value instanceof Date) return value.toISOString()
  if (isList(value)) return value.join(",")
  const conditions = conditionsOf(value)
  return conditions.length === 0 ? undefined : FilterSyntax.print(conditions)
}

const queryOf = (query: Query = {}): string => {
  const pairs = Record.toEntries(query).flatMap(([name, value]): Array<[string, string]> => {
    const text = textOf(value)
    return text === undefined ? [] : [[name, text]]
  })
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`
}

export interface Route {
  readonly method: string
  readonly path: string
  readonly hasBody: boolean
  readonly hasQuery: boolean
  /** Whether a write that needs one to be repeated gets an `Idempotency-Key`. */
  readonly isRepeatable: boolean
}

export const routeOf = (text: string): Route => {
  const [method = "", path = "", ...flags] = text.split(" ")
  const hasQuery = flags.includes("query") || flags.includes("pages")
  return { method, path, hasBody: flags.includes("body"), hasQuery, isRepeatable: flags.includes("repeatable") }
}

export interface Arguments {
  /** Those of the path, in its order. */
  readonly uuids: ReadonlyArray<string>
  readonly body: unknown
  readonly query: Query | undefined
  readonly options: CallOptions | undefined
}

/** A parameter of a path. All of them are uuids. */
const parameter = /:\w+/g

/** The arguments of a method: the uuids of the path, the body, the query and the options. */
export const argumentsOf = ({ hasBody, hasQuery, path }: Route, sent: ReadonlyArray<unknown>): Arguments => {
  const rest = [...sent]
  const uuids = Array.from(path.matchAll(parameter), () => String(rest.shift()))
  const body = hasBody ? rest.shift() : undefined
  const query = hasQuery ? (rest.shift() as Query | undefined) : undefined
  return { uuids, body, query, options: rest.shift() as CallOptions | undefined }
}

/** The options that are sent as headers. */
const headerOptions = ["ifMatch", "idempotencyKey"] as const

/**
 * What is wrong with arguments, if something is. Another text in a path would be the path of another operation, as `..` and
 * `delta` are, a write without its precondition would overwrite what it must not, and a list without a condition would have
 * records that were not asked for.
 */
export const wrongIn = ({ method, path }: Route, { options, query, uuids }: Arguments): string | undefined => {
  const wrong = uuids.find((uuid) => !uuidPattern.test(uuid.trim().toLowerCase()))
  if (wrong !== undefined) return `"${wrong}" is not a uuid, which the path of ${method} ${path} needs`
  if (Predicate.hasProperty(options, "ifMatch") && options.ifMatch === undefined)
    return "ifMatch is undefined: a write with a precondition needs the entity tag of a read that succeeded"
  const problem = Predicate.isObject(query?.["filter"]) ? problemOf(query["filter"]) : undefined
  if (problem !== undefined) return problem
  const unsendable = headerOptions.find((name) => !isHeaderValue(options?.[name] ?? ""))
  return unsendable === undefined ? undefined : `${unsendable} has characters that no header can have`
}

/** The path and the query of a request. */
export const targetOf = ({ path }: Route, { query, uuids }: Arguments): string => {
  const rest = [...uuids]
  return `${path.replaceAll(parameter, () => encodeURIComponent(rest.shift() ?? ""))}${queryOf(query)}`
}
