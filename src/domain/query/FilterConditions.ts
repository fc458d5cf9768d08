import { Result, Schema } from "effect"
import { isTimestamp, isUuid } from "../schema/Fields.ts"
import type { Field, Kind } from "./FilterFields.ts"
import type { RawCondition } from "./FilterSyntax.ts"
import { nearest } from "../write/Suggestions.ts"

export const operators = ["equals", "contains", "startsWith", "endsWith", "gt", "gte", "lt", "lte"] as const
export type Operator = (typeof operators)[number]

const textual: ReadonlyArray<Operator> = ["equals", "contains", "startsWith", "endsWith"]
const ordered: ReadonlyArray<Operator> = ["equals", "gt", "gte", "lt", "lte"]

/** The operators a kind of field takes. */
export const operatorsOf: Readonly<Record<Kind, ReadonlyArray<Operator>>> = {
  string: textual,
  uuid: textual,
  enum: textual,
  number: ordered,
  date: ordered,
  boolean: ["equals"]
}

/** A condition as it was sent, and which one of the filter. */
const Sent = Schema.Struct({
  field: Schema.String,
  operator: Schema.String,
  value: Schema.String,
  text: Schema.String,
  start: Schema.Int,
  operatorStart: Schema.Int,
  valueStart: Schema.Int,
  index: Schema.Int
})

/** One condition: the path as the API returns it, the operator, and the value by the field's kind. */
export const Condition = Schema.Struct({
  field: Schema.String,
  operator: Schema.Literals(operators),
  value: Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]),
  /** Of a field named by a key: what is checked once the fields of the keys are known. */
  sent: Schema.optionalKey(Sent)
})
export type Condition = typeof Condition.Type

/** How many values of an enum an error lists. */
export const maxListed = 100

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
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

/** The value by the field's kind, or what would have been right. */
const parseValue = (field: Field, operator: Operator, value: string): Result.Result<Condition["value"], Failure> => {
  const fail = (expected: string, suggestions: ReadonlyArray<string> = []) =>
    Result.fail({
      code: "invalidValue" as const,
      message: `"${value}" is not a value for ${field.kind} field "${field.path}"; use ${expected}`,
      suggestions
    })
  switch (field.kind) {
    case "number": {
      const parsed = Number(value)
      return jsonNumber.test(value) && Number.isFinite(parsed) ? Result.succeed(parsed) : fail("a number such as 12.5")
    }
    case "boolean":
      return value === "true" || value === "false" ? Result.succeed(value === "true") : fail("true or false")
    case "date":
      return isTimestamp(value) || (day.test(value) && isTimestamp(`${value}T00:00:00.000Z`))
        ? Result.succeed(value)
        : fail("YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS.mmmZ")
    case "uuid":
      if (operator !== "equals") return Result.succeed(value)
      return isUuid(value.toLowerCase()) ? Result.succeed(value.toLowerCase()) : fail("a whole UUID, or contains")
    case "enum":
      return operator !== "equals" || field.values.includes(value)
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
export const find = (fields: ReadonlyArray<Field>, { field }: Pick<RawCondition, "field">): Field | undefined => {
  const found = fields.filter(({ path }) => path.toLowerCase() === field.toLowerCase())
  return found.length === 1 ? found[0] : found.find(({ path }) => path === field)
}

const operatorOf = (raw: RawCondition) => operators.find((name) => name.toLowerCase() === raw.operator.toLowerCase())

const unknownOperator = (raw: RawCondition, path: string, allowed: ReadonlyArray<Operator>): Failure => ({
  code: "unknownOperator",
  message: `Unknown operator "${raw.operator}"; field "${path}" takes ${allowed.join(", ")}`,
  suggestions: nearest(raw.operator, allowed)
})

const isStorable = (value: string) => !value.includes("\0") && value.isWellFormed()

const notStorable: Failure = { code: "invalidValue", message: "The value has a character that no text can hold" }

/** The condition on a field named by a key, as far as it can be checked before the keys are known. */
export const defer = (raw: RawCondition, index: number): Checked => {
  const operator = operatorOf(raw)
  if (operator === undefined) {
    return Result.fail({ ...unknownOperator(raw, raw.field, operators), at: raw.operatorStart })
  }
  return isStorable(raw.value)
    ? Result.succeed({ field: raw.field, operator, value: raw.value, sent: { ...raw, index } })
    : Result.fail({ ...notStorable, at: raw.valueStart })
}

/** The condition on one of the fields, or what is wrong with it and at which character of the filter. */
export const check = (fields: ReadonlyArray<Field>, raw: RawCondition): Checked => {
  const fail = (at: number, failure: Failure) => Result.fail({ ...failure, at })
  const field = find(fields, raw)
  if (field === undefined) {
    const suggestions = nearest(
      raw.field,
      fields.map(({ path }) => path)
    )
    return fail(raw.start, {
      code: "unknownField",
      message: `Unknown filter field "${raw.field}"${suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`}`,
      suggestions
    })
  }
  const allowed = operatorsOf[field.kind]
  const operator = operatorOf(raw)
  if (operator === undefined) return fail(raw.operatorStart, unknownOperator(raw, field.path, allowed))
  if (!allowed.includes(operator)) {
    return fail(raw.operatorStart, {
      code: "operatorNotAllowed",
      message: `Operator "${operator}" does not apply to ${field.kind} field "${field.path}"; use ${allowed.join(", ")}`,
      suggestions: allowed
    })
  }
  const value = raw.value.normalize("NFC")
  if (!isStorable(value)) return fail(raw.valueStart, notStorable)
  return Result.match(parseValue(field, operator, value), {
    onFailure: (failure) => fail(raw.valueStart, failure),
    onSuccess: (parsed) => Result.succeed({ field: field.path, operator, value: parsed })
  })
}
