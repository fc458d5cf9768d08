import { Predicate } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import type { WaypostClient } from "../../client/promise/PromiseClient.ts"
import type { Call } from "../../client/promise/Call.ts"
import type { WaypostError } from "../../client/promise/WaypostError.ts"
import type { Action } from "../definition/Definition.ts"

export interface Page {
  readonly data: ReadonlyArray<Json>
  readonly pagination: {
    readonly limit: number
    readonly page?: number
    readonly total?: number
    readonly next?: string
  }
  /** How many references there are by type, with those from records that the key may not read, which `data` lacks. */
  readonly counts?: Readonly<Record<string, number>>
}

type Method = (...args: ReadonlyArray<unknown>) => Call<unknown, WaypostError>

/** Calls the method of the client for an operation: the uuids of its path, then its body, its query and options. */
export const call = <A = Json>(
  client: WaypostClient,
  { group, name }: Pick<Action, "group" | "name">,
  ...args: ReadonlyArray<unknown>
) => {
  const groups = client as unknown as Readonly<Record<string, Readonly<Record<string, Method>>>>
  return groups[group]![name]!(...args) as Call<A, WaypostError>
}

/** Of translations the one in the language of the page, else the first. */
const elementAt = (list: ReadonlyArray<unknown>, place: string): unknown => {
  const isOwn = (one: unknown) =>
    Predicate.isObject(one) && textOf(one["locale"]).startsWith(document.documentElement.lang)
  return (place === "0" ? list.find(isOwn) : undefined) ?? list[Number(place)]
}

/** The value at a dotted path. A list on the way answers with the values of all its elements, unless the path has a place in it. */
export const valueAt = (value: unknown, path: string): unknown => {
  const [first = "", ...rest] = path.split(".")
  const inner = rest.join(".")
  if (Array.isArray(value) && !/^\d+$/.test(first)) {
    const values = value.flatMap((element) => valueAt(element, path) ?? [])
    return values.length === 0 ? undefined : values
  }
  const found: unknown = Array.isArray(value)
    ? elementAt(value, first)
    : Predicate.isObject(value)
      ? value[first]
      : undefined
  return rest.length === 0 || found === undefined ? found : valueAt(found, inner)
}

/** A path as filters have it: places in lists have no part in it. */
export const fieldOf = (path: string) => path.replaceAll(/\.\d+(?=\.|$)/g, "")

/** What `fields` asks for to get the values at paths. Without its locale, no translation is in the language of the page. */
export const selected = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isTranslated = paths.some((path) => path.startsWith("translations.0."))
  return [...new Set(["uuid", ...(isTranslated ? ["translations.locale"] : []), ...paths.map(fieldOf)])]
}

export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : ""

/** The name of a record for people. */
export const labelOf = (record: Json, label: string): string => textOf(valueAt(record, label)) || textOf(record["uuid"])

export const uuidOf = (record: Json): string => textOf(record["uuid"])
