import type { Condition } from "../domain/query/Filter.ts"
import type { Field } from "../domain/query/FilterFields.ts"
import type { Parameters } from "./Parameters.ts"
import { collation, type Column, expressionOf, extract, typed } from "./Columns.ts"

const escapeLike = (value: string) => value.replaceAll(/[\\%_]/g, "\\$&")

const patterns: Readonly<Record<string, (value: string) => string>> = {
  contains: (value) => `%${value}%`,
  startsWith: (value) => `${value}%`,
  endsWith: (value) => `%${value}`
}

const comparisons: Readonly<Record<string, string>> = { equals: "=", gt: ">", gte: ">=", lt: "<", lte: "<=" }

const compareText = (sql: string, { operator, value }: Condition, parameters: Parameters): string => {
  const pattern = patterns[operator]
  return pattern === undefined
    ? `${sql} ${collation} = ${parameters.add(value, "text")}`
    : // Both sides are folded by the same function, so case means the same on every server.
      `waypost_fold(${sql}) like waypost_fold(${parameters.add(pattern(escapeLike(String(value))), "text")})`
}

/**
 * A bare day is the whole UTC day: `equals` is within it, `gt` from the next day on, `lte` to its end. That is the only
 * reading in which "on or after" and "on or before" are true.
 */
const compareDate = (sql: string, { operator, value }: Condition, parameters: Parameters): string => {
  const text = String(value)
  if (text.length > 10) return `${sql} ${comparisons[operator]} ${parameters.add(text, "timestamptz")}`
  const start = parameters.add(`${text}T00:00:00.000Z`, "timestamptz")
  const next = `${start} + interval '24 hours'`
  switch (operator) {
    case "equals":
      return `(${sql} >= ${start} and ${sql} < ${next})`
    case "gt":
      return `${sql} >= ${next}`
    case "lte":
      return `${sql} < ${next}`
    default:
      return `${sql} ${comparisons[operator]} ${start}`
  }
}

const compare = (sql: string, field: Field, condition: Condition, parameters: Parameters): string => {
  switch (field.kind) {
    case "number":
      return `${sql} ${comparisons[condition.operator]} ${parameters.add(condition.value, "float8")}`
    case "boolean":
      return `${sql} = ${parameters.add(condition.value, "boolean")}`
    case "date":
      return compareDate(sql, condition, parameters)
    case "uuid":
      return condition.operator === "equals"
        ? `${sql} = ${parameters.add(condition.value, "uuid")}`
        : compareText(`${sql}::text`, condition, parameters)
    default:
      return compareText(sql, condition, parameters)
  }
}

/** Texts of a list in one piece: several times as fast to compare as one by one, and an index can serve it. */
interface Joined {
  readonly sql: string
  /** What stands before and after each text. */
  readonly edge: string
  /** The texts as a JSON array, which is looked at one by one where one piece may mislead. */
  readonly json: string
  readonly misleading?: string
}

// No text in such a list has control characters.
const joinedList = (list: string): Joined => ({
  sql: `(chr(1) || array_to_string(${list}, chr(1)) || chr(1))`,
  edge: "\u0001",
  json: `to_jsonb(${list})`
})

// In `["a", "b"]` a double quote begins or ends a text, unless it is escaped.
const joinedJson = (json: string): Joined => ({
  sql: `${json}::text`,
  edge: '"',
  json,
  misleading: `strpos(${json}::text, '\\') > 0`
})

/** What the brackets and commas between texts could hold as well, and what is escaped. */
const isMisleading = (value: string) => /["\\\p{Cc}]/u.test(value) || /^[[\], ]|[[\], ]$|^$/.test(value)

/** Whether a pattern fits some text of a list. */
const someLike = (
  { edge, json, misleading, sql }: Joined,
  { operator, value }: Condition,
  parameters: Parameters
): string => {
  const text = escapeLike(String(value))
  const pattern = patterns[operator]!(text)
  const each = () => `waypost_some_like(${json}, ${parameters.add(pattern, "text")})`
  if (isMisleading(String(value))) return each()
  const edges = { contains: text, startsWith: edge + text, endsWith: text + edge }[operator as "contains"]
  const whole = `waypost_fold(${sql}) like waypost_fold(${parameters.add(`%${edges}%`, "text")})`
  return misleading === undefined ? whole : `(${whole} and (not ${misleading} or ${each()}))`
}

const isText = ({ kind }: Field) => kind === "string" || kind === "enum" || kind === "uuid"

/** A list field holds when some element does. */
const compareElement = (columns: ReadonlyArray<Column>, field: Field, condition: Condition, parameters: Parameters) => {
  const column = columns.find(({ member }) => member === field.segments[0])!
  const path = field.segments.slice(1)
  if (column.kind === "list") {
    return condition.operator === "equals"
      ? // The operator that the GIN index on the list serves.
        `${column.sql} @> array[${parameters.add(condition.value, "text")}]`
      : someLike(joinedList(column.sql), condition, parameters)
  }
  const inside = field.listAt! - 1
  const list = path.slice(0, inside).reduce((sql, segment) => `${sql}->'${segment}'`, column.sql)
  const leaf = path.slice(inside)
  if (isText(field)) {
    const texts = `jsonb_path_query_array(${list}, '$[*]${leaf.map((segment) => `.${segment}`).join("")}')`
    return condition.operator === "equals"
      ? `${texts} @> to_jsonb(${parameters.add(condition.value, "text")})`
      : someLike(joinedJson(texts), condition, parameters)
  }
  const element = typed(field, leaf.length === 0 ? "element #>> '{}'" : extract("element", leaf))
  return `exists (select from jsonb_array_elements(${list}) element where ${compare(element, field, condition, parameters)})`
}

/** The SQL of one condition. Identifiers come from the record's own columns, values are always bound. */
export const conditionSql = (
  columns: ReadonlyArray<Column>,
  field: Field,
  condition: Condition,
  parameters: Parameters
): string => {
  const answer = columns.find(({ member }) => member === field.segments[0])?.condition
  if (answer !== undefined) {
    return answer(field, (sql) => compare(sql, field, condition, parameters))
  }
  return field.listAt === undefined
    ? compare(expressionOf(columns, field), field, condition, parameters)
    : compareElement(columns, field, condition, parameters)
}
