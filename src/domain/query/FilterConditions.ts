import { Result, Schema } from "effect"
import { isTimestamp, isUuid } from "../schema/Fields.ts"
import { isJsonNumber } from "../schema/Json.ts"
import { type Field, type FieldKind, objectsOf } from "./FilterFields.ts"
import type { RawCondition } from "./FilterSyntax.ts"
import { didYouMean, nearest } from "../write/Suggestions.ts"

export const operators = [
  "equals",
  "contains",
  "startsWith",
  "endsWith",
  "gt",
  "gte",
  "lt",
  "lte",
  "in",
  "exists"
] as const
export type Operator = (typeof operators)[number]

/** The operators that compare a part of a text. */
const partial: ReadonlyArray<Operator> = ["contains", "startsWith", "endsWith"]
const textual: ReadonlyArray<Operator> = ["equals", ...partial, "in", "exists"]
const ordered: ReadonlyArray<Operator> = ["equals", "gt", "gte", "lt", "lte", "in", "exists"]

/** How many values `in` takes. */
export const maxValues = 100

/** The operators a kind of field takes. */
export const operatorsOf: Readonly<Record<FieldKind, ReadonlyArray<Operator>>> = {
  string: textual,
  uuid: textual,
  enum: textual,
  number: ordered,
  date: ordered,
  // A day of the calendar is a date, of which the text has a meaning too: `2026-12` is a month.
  day: [...ordered, ...partial],
  boolean: ["equals", "in", "exists"]
}

/** A condition as it was sent, and which one of the filter. */
const Sent = Schema.Struct({
  field: Schema.String,
  operator: Schema.String,
  value: Schema.String,
  values: Schema.optionalKey(Schema.Array(Schema.Struct({ value: Schema.String, start: Schema.Int }))),
  text: Schema.String,
  start: Schema.Int,
  operatorStart: Schema.Int,
  valueStart: Schema.Int,
  index: Schema.Int
})

const Scalar = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])

/** One condition: the path as the API returns it, the operator, and the value by the field's kind, a list with `in`. */
export const Condition = Schema.Struct({
  field: Schema.String,
  operator: Schema.Literals(operators),
  value: Schema.Union([Scalar, Schema.Array(Scalar)]),
  /** Whether it holds where the condition does not. */
  not: Schema.optionalKey(Schema.Boolean),
  /** Of a field named by a key: what is checked once the fields of the keys are known. */
  sent: Schema.optionalKey(Sent)
})
export type Condition = typeof Condition.Type

/** How many values of an enum an error lists. */
export const maxListed = 100

const day = /^\d{4}-\d{2}-\d{2}$/

/** What is wrong with a filter, by the code of its error. */
export const codes = [
  "syntax",
  "unknownField",
  "unknownOperator",
  "operatorNotAllowed",
  "invalidValue",
  "tooManyConditions",
  "tooLong"
] as const

export interface Failure {
  readonly code: (typeof codes)[number]
  readonly message: string
  readonly suggestions?: ReadonlyArray<string>
}

type Checked = Result.Result<Condition, Failure & { readonly at: number }>

type Scalar = typeof Scalar.Type

/** The value by the field's kind, or what would have been right. */
const parseValue = (field: Field, operator: Operator, value: string): Result.Result<Scalar, Failure> => {
  const fail = (expected: string, suggestions: ReadonlyArray<string> = []) =>
    Result.fail({
      code: "invalidValue" as const,
      message: `"${value}" is not a value for ${field.kind} field "${field.path}"; use ${expected}`,
      suggestions
    })
  const whole = operator === "equals" || operator === "in"
  switch (field.kind) {
    case "number": {
      const parsed = Number(value)
      return isJsonNumber(value) && Number.isFinite(parsed) ? Result.succeed(parsed) : fail("a number such as 12.5")
    }
    case "boolean":
      return value === "true" || value === "false" ? Result.succeed(value === "true") : fail("true or false")
    case "date":
    case "day":
      if (partial.includes(operator)) return Result.succeed(value)
      return isTimestamp(value) || (day.test(value) && isTimestamp(`${value}T00:00:00.000Z`))
        ? Result.succeed(value)
        : fail("YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS.mmmZ")
    case "uuid":
      if (!whole) return Result.succeed(value)
      return isUuid(value.toLowerCase()) ? Result.succeed(value.toLowerCase()) : fail("a whole UUID, or contains")
    case "enum":
      return !whole || field.values.includes(value)
        ? Result.succeed(value)
        : fail(
            `one of ${field.values.slice(0, maxListed).join(", ")}${field.values.length > maxListed ? ", …" : ""}`,
            field.values.slice(0, maxListed)
          )
    case "string":
      return Result.succeed(value)
  }
}

/** The field of a condition, ignoring case; of fields that differ only by case, the one that is written the same. */
export const find = <Named extends Pick<Field, "path">>(
  fields: ReadonlyArray<Named>,
  { field }: Pick<RawCondition, "field">
): Named | undefined => {
  const found = fields.filter(({ path }) => path.toLowerCase() === field.toLowerCase())
  return found.length === 1 ? found[0] : found.find(({ path }) => path === field)
}

const negated = /^not[ \t]+/i

/** The operator without a `not` before it, and whether it has one. */
const operatorOf = ({ operator }: RawCondition) => {
  const name = operator.replace(negated, "").toLowerCase()
  return {
    operator: operators.find((known) => known.toLowerCase() === name),
    negation: negated.test(operator) ? { not: true } : {}
  }
}

const unknownOperator = (raw: RawCondition, path: string, allowed: ReadonlyArray<Operator>): Failure => ({
  code: "unknownOperator",
  message: `Unknown operator "${raw.operator}"; field "${path}" takes ${allowed.join(", ")}, each also after "not"`,
  suggestions: nearest(raw.operator.replace(negated, ""), allowed)
})

const isStorable = (value: string) => !value.includes("\0") && value.isWellFormed()

const notStorable: Failure = { code: "invalidValue", message: "The value has a character that no text can hold" }

/** The values as they were sent, and where each is. */
const sentValues = ({ value, valueStart, values }: RawCondition) => values ?? [{ value, start: valueStart }]

/** The condition on a field named by a key, as far as it can be checked before the keys are known. */
export const defer = (raw: RawCondition, index: number): Checked => {
  const { negation, operator } = operatorOf(raw)
  if (operator === undefined) {
    return Result.fail({ ...unknownOperator(raw, raw.field, operators), at: raw.operatorStart })
  }
  const wrong = sentValues(raw).find(({ value }) => !isStorable(value))
  return wrong === undefined
    ? Result.succeed({ field: raw.field, operator, value: raw.value, ...negation, sent: { ...raw, index } })
    : Result.fail({ ...notStorable, at: wrong.start })
}

/** The condition on one of the fields, or what is wrong with it and at which character of the filter. */
export const check = (fields: ReadonlyArray<Field>, raw: RawCondition): Checked => {
  const fail = (at: number, failure: Failure) => Result.fail({ ...failure, at })
  const { negation, operator } = operatorOf(raw)
  const field = find(fields, raw)
  const objects = field === undefined ? objectsOf(fields) : []
  const path = field?.path ?? find(objects, raw)?.path
  if (operator === "exists" && path !== undefined) {
    if (raw.value === "true" || raw.value === "false") {
      return Result.succeed({ field: path, operator, value: raw.value === "true", ...negation })
    }
    const message = `"${raw.value}" is not a value for "exists"; use true or false`
    return fail(raw.valueStart, { code: "invalidValue", message })
  }
  if (field === undefined) {
    if (path !== undefined) {
      const message = `"${path}" has members and no value of its own; filter by one of them, or use exists`
      return fail(raw.start, { code: "unknownField", message })
    }
    const known = operator === "exists" ? [...fields, ...objects] : fields
    const suggestions = nearest(
      raw.field,
      known.map(({ path }) => path)
    )
    return fail(raw.start, {
      code: "unknownField",
      message: `Unknown filter field "${raw.field}"${didYouMean(suggestions)}`,
      suggestions
    })
  }
  const allowed = operatorsOf[field.kind]
  if (operator === undefined) return fail(raw.operatorStart, unknownOperator(raw, field.path, allowed))
  if (!allowed.includes(operator)) {
    return fail(raw.operatorStart, {
      code: "operatorNotAllowed",
      message: `Operator "${operator}" does not apply to ${field.kind} field "${field.path}"; use ${allowed.join(", ")}`,
      suggestions: allowed
    })
  }
  const sent = sentValues(raw)
  const extra = sent[maxValues]
  if (extra !== undefined) {
    const message = `"in" takes at most ${maxValues} values; this list has ${sent.length}`
    return fail(extra.start, { code: "invalidValue", message })
  }
  const parsed: Array<Scalar> = []
  for (const { start, value: text } of sent) {
    const value = text.normalize("NFC")
    if (!isStorable(value)) return fail(start, notStorable)
    const result = parseValue(field, operator, value)
    if (Result.isFailure(result)) return fail(start, result.failure)
    parsed.push(result.success)
  }
  const value = operator === "in" ? parsed : parsed[0]!
  return Result.succeed({ field: field.path, operator, value, ...negation })
}
