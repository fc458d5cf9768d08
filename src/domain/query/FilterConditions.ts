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

/** One condition: the path as the API returns it, the operator, and the value by the field's kind. */
export const Condition = Schema.Struct({
  field: Schema.String,
  operator: Schema.Literals(operators),
  value: Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])
})
export type Condition = typeof Condition.Type

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
        : fail(`one of ${field.values.join(", ")}`, field.values)
    case "string":
      return Result.succeed(value)
  }
}

/** The condition on one of the fields, or what is wrong with it and at which character of the filter. */
export const check = (
  fields: ReadonlyArray<Field>,
  raw: RawCondition
): Result.Result<Condition, Failure & { readonly at: number }> => {
  const fail = (at: number, failure: Failure) => Result.fail({ ...failure, at })
  const field = fields.find(({ path }) => path.toLowerCase() === raw.field.toLowerCase())
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
  const operator = operators.find((name) => name.toLowerCase() === raw.operator.toLowerCase())
  if (operator === undefined) {
    return fail(raw.operatorStart, {
      code: "unknownOperator",
      message: `Unknown operator "${raw.operator}"; field "${field.path}" takes ${allowed.join(", ")}`,
      suggestions: nearest(raw.operator, allowed)
    })
  }
  if (!allowed.includes(operator)) {
    return fail(raw.operatorStart, {
      code: "operatorNotAllowed",
      message: `Operator "${operator}" does not apply to ${field.kind} field "${field.path}"; use ${allowed.join(", ")}`,
      suggestions: allowed
    })
  }
  const value = raw.value.normalize("NFC")
  if (value.includes("\0") || !value.isWellFormed()) {
    return fail(raw.valueStart, { code: "invalidValue", message: "The value has a character that no text can hold" })
  }
  return Result.match(parseValue(field, operator, value), {
    onFailure: (failure) => fail(raw.valueStart, failure),
    onSuccess: (parsed) => Result.succeed({ field: field.path, operator, value: parsed })
  })
}
