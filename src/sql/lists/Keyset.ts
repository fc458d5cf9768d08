import { Effect } from "effect"
import { hash } from "node:crypto"
import { isJsonNumber } from "../../domain/schema/Json.ts"
import { isTimestamp, isUuid } from "../../domain/schema/Fields.ts"
import type { Field } from "../../domain/query/FilterFields.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { sql } from "../Fragment.ts"

/** The kind of the values by which a list is sorted. Numbers of records are whole; an index compares those only with each other. */
export type SortKind = Field["kind"] | "integer"

/** The record behind which a page begins: the text of its sort value, which is null where it has none, and its uuid. */
export interface Place {
  readonly key: string | null
  readonly uuid: string
}

/** A cursor belongs to a list in one order with one filter, of which it has the beginning of a hash. */
const tagOf = (list: unknown) => hash("sha256", JSON.stringify(list), "base64url").slice(0, 12)

/** The cursor behind a record of a list. */
export const encode = ({ key, uuid }: Place, list: unknown): string =>
  Buffer.from(JSON.stringify([tagOf(list), key, uuid])).toString("base64url")

const invalid = (message: string) => InvalidRequestError.at("query", "after", "invalidFormat", message)

const malformed = invalid(
  "Expected `pagination.next` of an earlier answer, unchanged, or nothing to begin at the start"
)
const foreign = invalid("The cursor belongs to another list, order or filter; begin with an empty `after`")

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text of a `float8`, which PostgreSQL reads again: finite, and no other number than zero that is rounded to zero. */
const isFloat = (text: string) =>
  isJsonNumber(text) && Number.isFinite(Number(text)) && (Number(text) !== 0 || !/^[^eE]*[1-9]/.test(text))

const isKey = (key: unknown, kind: SortKind): key is string | null => {
  if (typeof key !== "string") return key === null
  switch (kind) {
    case "date":
      return isTimestamp(key)
    case "integer":
      return /^-?\d{1,16}$/.test(key) && Number.isSafeInteger(Number(key))
    case "number":
      return isFloat(key)
    case "uuid":
      return isUuid(key)
    case "boolean":
      return key === "true" || key === "false"
    default:
      return !key.includes("\0") && key.isWellFormed()
  }
}

/** The tag, the sort value and the uuid of a cursor of any list. */
const contentOf = (cursor: string) => {
  const content = parse(Buffer.from(cursor, "base64url").toString())
  if (!Array.isArray(content) || content.length !== 3) return undefined
  const [tag, key, uuid]: ReadonlyArray<unknown> = content
  return typeof tag === "string" && typeof uuid === "string" && isUuid(uuid) ? { tag, key, uuid } : undefined
}

/** The order of a search that ranks what it finds: a rank is no place. */
const rank = "relevance"

const rejected = (path: string, message: string) =>
  Effect.die(InvalidRequestError.at("query", path, "invalidFormat", message))

/** What chooses the page of a list. */
interface Paged {
  readonly page?: number | undefined
  readonly after?: string | undefined
  readonly sortBy?: string | undefined
}

/** Ends a request with `after` that is rejected whatever its list is. */
export const check = ({ after, page, sortBy }: Paged) => {
  if (after === undefined) return Effect.void
  if (page !== undefined) return rejected("page", "Leave out `page`: `after` says where to begin")
  if (sortBy === rank) return rejected("sortBy", "`after` needs an order other than relevance")
  return after === "" || contentOf(after) !== undefined ? Effect.void : Effect.die(malformed)
}

/** Whether a cursor is of this list. */
export const isOf = (cursor: string, list: unknown): boolean => contentOf(cursor)?.tag === tagOf(list)

/** The place of a cursor of this list, whose sort values are of a kind; or the error of another one. */
export const decode = (cursor: string, list: unknown, kind: SortKind): Place | InvalidRequestError => {
  const content = contentOf(cursor)
  if (content === undefined) return malformed
  const { key, tag, uuid } = content
  if (tag !== tagOf(list)) return foreign
  return isKey(key, kind) ? { key, uuid } : malformed
}

/** The types in which sort values are compared. */
export const types: Readonly<Record<SortKind, ReturnType<typeof sql.literal>>> = {
  string: sql.literal("text"),
  enum: sql.literal("text"),
  uuid: sql.literal("uuid"),
  integer: sql.literal("bigint"),
  number: sql.literal("float8"),
  date: sql.literal("timestamptz"),
  day: sql.literal("text"),
  boolean: sql.literal("boolean")
}
