import type { Condition } from "../domain/query/FilterConditions.ts"
import type { Field } from "../domain/query/FilterFields.ts"
import { collation, type Column, descend, expressionOf, extract, typed } from "./Columns.ts"
import { type Fragment, sql } from "./Fragment.ts"

const escapeLike = (value: string) => value.replaceAll(/[\\%_]/g, "\\$&")

const patterns: Readonly<Record<string, (value: string) => string>> = {
  contains: (value) => `%${value}%`,
  startsWith: (value) => `${value}%`,
  endsWith: (value) => `%${value}`
}

const comparisons: Readonly<Record<string, Fragment>> = {
  equals: sql.literal("="),
  gt: sql.literal(">"),
  gte: sql.literal(">="),
  lt: sql.literal("<"),
  lte: sql.literal("<=")
}

/** A condition, and how it is planned. */
interface Planned extends Condition {
  /**
   * Whether PostgreSQL plans a pattern without a look at it. A plan for a known pattern is no dearer than one for any, so
   * PostgreSQL then keeps the plan of a prepared statement instead of planning each request.
   */
  readonly isUnknown?: boolean
}

/** The values of a condition. */
const valuesOf = ({ value }: Condition): ReadonlyArray<string | number | boolean> =>
  typeof value === "object" ? value : [value]

/**
 * Both sides are folded by the same function, so case means the same on every server. The result of a subquery is unknown to
 * the planner, also when it knows the parameter.
 */
const like = (expression: Fragment, pattern: string, { isUnknown = false }: Planned) => {
  const folded = sql`waypost_fold(${pattern}::text)`
  return sql`waypost_fold(${expression}) like ${isUnknown ? sql`(select ${folded})` : folded}`
}

const compareText = (expression: Fragment, condition: Planned): Fragment => {
  const { operator, value } = condition
  if (operator === "in") return sql`${expression} ${collation} = any (${valuesOf(condition)}::text[])`
  const pattern = patterns[operator]
  return pattern === undefined
    ? sql`${expression} ${collation} = ${value}::text`
    : like(expression, pattern(escapeLike(String(value))), condition)
}

/**
 * A bare day is the whole UTC day: `equals` is within it, `gt` from the next day on, `lte` to its end. That is the only
 * reading in which "on or after" and "on or before" are true.
 */
const compareDate = (expression: Fragment, condition: Condition): Fragment => {
  const { operator, value } = condition
  if (operator === "in") {
    return sql.or(
      valuesOf(condition).map((value) => compareDate(expression, { ...condition, operator: "equals", value }))
    )
  }
  const text = String(value)
  if (text.length > 10) return sql`${expression} ${comparisons[operator]} ${text}::timestamptz`
  const start = sql`${`${text}T00:00:00.000Z`}::timestamptz`
  const next = sql`${start} + interval '24 hours'`
  switch (operator) {
    case "equals":
      return sql`(${expression} >= ${start} and ${expression} < ${next})`
    case "gt":
      return sql`${expression} >= ${next}`
    case "lte":
      return sql`${expression} < ${next}`
    default:
      return sql`${expression} ${comparisons[operator]} ${start}`
  }
}

const compare = (expression: Fragment, field: Field, condition: Planned): Fragment => {
  const { operator, value } = condition
  switch (field.kind) {
    case "number":
      return operator === "in"
        ? // As text, because the driver takes whole numbers and fractions for different types.
          sql`${expression} = any (${valuesOf(condition).map(String)}::text[]::float8[])`
        : sql`${expression} ${comparisons[operator]} ${value}::float8`
    case "boolean":
      return sql`${expression} = any (${valuesOf(condition)}::boolean[])`
    case "date":
      return compareDate(expression, condition)
    case "day":
      // It begins at midnight in UTC, as in the meta tags of assets.
      return operator in patterns
        ? compareText(expression, condition)
        : compareDate(sql`(${expression} || 'T00:00:00.000Z')::timestamptz`, condition)
    case "uuid":
      if (operator === "in") return sql`${expression} = any (${valuesOf(condition)}::uuid[])`
      return operator === "equals"
        ? sql`${expression} = ${value}::uuid`
        : compareText(sql`${expression}::text`, condition)
    default:
      return compareText(expression, condition)
  }
}

/** The texts of a list in one text: several times as fast to compare as one by one, and an index can serve it. */
interface JoinedTexts {
  readonly text: Fragment
  /** The character before and after each text. */
  readonly edge: string
  /** The texts as a JSON array, to be compared one by one where the one text may mislead. */
  readonly json: Fragment
  readonly misleading?: Fragment
}

// No text in such a list has control characters.
const joinedList = (list: Fragment): JoinedTexts => ({
  text: sql`(chr(1) || array_to_string(${list}, chr(1)) || chr(1))`,
  edge: "\u0001",
  json: sql`to_jsonb(${list})`
})

// In `["a", "b"]` a double quote begins or ends a text, unless it is escaped.
const joinedJson = (json: Fragment): JoinedTexts => ({
  text: sql`${json}::text`,
  edge: '"',
  json,
  misleading: sql`strpos(${json}::text, '\\') > 0`
})

/** Whether the brackets and commas between the texts could match the value too, or an escape hides it. */
const isMisleading = (value: string) => /["\\\p{Cc}]/u.test(value) || /^[[\], ]|[[\], ]$|^$/.test(value)

/** Whether a pattern matches some text of a list. */
const someLike = ({ edge, json, misleading, text }: JoinedTexts, condition: Planned): Fragment => {
  const { operator, value } = condition
  const escaped = escapeLike(String(value))
  const each = sql`waypost_some_like(${json}, ${patterns[operator]!(escaped)}::text)`
  if (isMisleading(String(value))) return each
  const begins = operator === "startsWith" ? edge : ""
  const ends = operator === "endsWith" ? edge : ""
  const whole = like(text, `%${begins}${escaped}${ends}%`, condition)
  return misleading === undefined ? whole : sql`(${whole} and (not ${misleading} or ${each}))`
}

/** Whether a condition compares texts as they are. */
const isText = ({ kind }: Field, { operator }: Condition) =>
  kind === "string" || kind === "enum" || kind === "uuid" || (kind === "day" && operator in patterns)

/** A condition on a list holds when it holds for some element. */
const compareElement = (column: Column, field: Field, condition: Planned): Fragment => {
  const path = field.segments.slice(1)
  if (column.kind === "list") {
    // The operators that the GIN index on the list serves.
    if (condition.operator === "equals") return sql`${column.sql} @> array[${condition.value}::text]`
    return condition.operator === "in"
      ? sql`${column.sql} && ${valuesOf(condition)}::text[]`
      : someLike(joinedList(column.sql), condition)
  }
  const [outermost = 0, ...inner] = field.lists.map((list) => list - 1)
  const list = descend(column.sql, path.slice(0, outermost))
  if (isText(field, condition)) {
    const leaf = path
      .slice(outermost)
      .map((member, index) => `.${member}${inner.includes(outermost + index + 1) ? "[*]" : ""}`)
    const texts = sql`jsonb_path_query_array(${list}, ${sql.literal(`'$[*]${leaf.join("")}'`)})`
    return condition.operator === "equals" || condition.operator === "in"
      ? sql`jsonb_exists_any(${texts}, ${valuesOf(condition)}::text[])`
      : someLike(joinedJson(texts), condition)
  }
  return someElement(list, path, [outermost, ...inner], (text) => compare(typed(field, text), field, condition))
}

/** Whether some element of a list holds; `lists` are the positions in the path of this list and of those within it. */
const someElement = (
  list: Fragment,
  path: ReadonlyArray<string>,
  [at = 0, ...within]: ReadonlyArray<number>,
  holds: (text: Fragment) => Fragment
): Fragment => {
  const element = sql.literal(`element_${at}`)
  const [next] = within
  const leaf = path.slice(at, next)
  const condition =
    next === undefined
      ? holds(leaf.length === 0 ? sql`${element} #>> '{}'` : extract(element, leaf))
      : someElement(descend(element, leaf), path, within, holds)
  return sql`exists (select from jsonb_array_elements(${list}) ${element} where ${condition})`
}

/** A condition on the values of a field. */
const single = (column: Column, field: Field, condition: Planned): Fragment => {
  if (column.condition !== undefined) {
    return column.condition(field, (expression) => compare(expression, field, condition), condition)
  }
  return field.lists.length === 0
    ? compare(expressionOf(column, field), field, condition)
    : compareElement(column, field, condition)
}

/** Some value that is no empty object, in any element of the lists on the way to it. */
const present = '[*] ? (@.type() == "object" && exists(@.keyvalue()) || @.type() != "object" && @ != null)'

/** Whether a record has a value, an element of a list, or a member of an object. */
const existing = (column: Column, field: Field | undefined, path: ReadonlyArray<string>): Fragment => {
  if (column.kind === "list") return sql`cardinality(${column.sql}) > 0`
  if (column.kind !== "json") return sql`${column.sql} is not null`
  if (field?.lists.length === 0 && column.condition === undefined)
    return sql`${expressionOf(column, field)} is not null`
  const members = path.map((member) => `.${member}`).join("")
  return sql`jsonb_path_exists((${column.sql})::jsonb, ${sql.literal(`'$${members}${present}'`)})`
}

const positive = (column: Column, field: Field | undefined, condition: Planned): Fragment => {
  if (condition.operator === "exists") {
    const path = condition.field.slice(column.member.length + 1)
    const exists = existing(column, field, path === "" ? [] : path.split("."))
    return condition.value === true ? exists : sql`(${exists}) is not true`
  }
  return single(column, field!, condition)
}

/**
 * The SQL of one condition; without a field, it asks whether an object exists. Identifiers come from the record's own
 * columns, values are always parameters.
 */
export const conditionSql = (column: Column, field: Field | undefined, condition: Planned): Fragment => {
  const holds = positive(column, field, condition)
  return condition.not === true ? sql`(${holds}) is not true` : holds
}
