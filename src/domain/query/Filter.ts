import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { isTimestamp, isUuid } from "../schema/Fields.ts"
import { type Field, filterableOf, type Kind } from "./FilterFields.ts"
import { type RawCondition, quote, split } from "./FilterSyntax.ts"
import { nearest } from "../write/Suggestions.ts"

/**
 * The `filter` parameter: `field:operator:value`, joined by commas, all of which must hold.
 *
 * The fields are those of the record as the API returns it, so a column that is not answered cannot be probed. The
 * text is cut into conditions by `FilterSyntax`; here each condition is checked against the record. An error carries
 * the finished `InvalidFilterError`, which the error boundary finds in the schema issue.
 */
export class InvalidFilterError extends ApiError<InvalidFilterError>()(
  "InvalidFilterError",
  {
    message: Schema.String,
    code: Schema.Literals([
      "syntax",
      "unknownField",
      "unknownOperator",
      "operatorNotAllowed",
      "invalidValue",
      "tooManyConditions",
      "tooLong"
    ]),
    condition: Schema.String.annotate({ description: "The condition that was refused, as it was sent." }),
    index: Schema.Int.annotate({ description: "Which condition, from 0." }),
    position: Schema.Int.annotate({ description: "The character of the filter where the problem is, from 0." }),
    suggestions: Schema.Array(Schema.String)
  },
  { httpApiStatus: 400 }
) {}

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

const maxConditions = 20
const maxCharacters = 2000
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const day = /^\d{4}-\d{2}-\d{2}$/

type Failure = Pick<InvalidFilterError, "code" | "message"> & { readonly suggestions?: ReadonlyArray<string> }

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

const checkCondition = (
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

/** Reads a filter against the fields of a record. */
export const parse = (
  fields: ReadonlyArray<Field>,
  filter: string
): Result.Result<ReadonlyArray<Condition>, InvalidFilterError> => {
  const fail = (failure: Failure, index: number, position: number, condition: string) =>
    Result.fail(new InvalidFilterError({ suggestions: [], ...failure, index, position, condition }))
  // Characters are code points here as everywhere, and only a filter with more code units can have too many.
  const characters = filter.length > maxCharacters ? Array.from(filter) : []
  if (characters.length > maxCharacters) {
    const message = `A filter has at most ${maxCharacters} characters; this one has ${characters.length}`
    return fail({ code: "tooLong", message }, 0, maxCharacters, characters.slice(0, 100).join(""))
  }
  const pieces = split(filter)
  if (Result.isFailure(pieces)) {
    const { condition, index, message, position } = pieces.failure
    return fail({ code: "syntax", message }, index, position, condition)
  }
  if (pieces.success.length > maxConditions) {
    const extra = pieces.success[maxConditions]!
    const message = `A filter has at most ${maxConditions} conditions; this one has ${pieces.success.length}`
    return fail({ code: "tooManyConditions", message }, maxConditions, extra.start, extra.text)
  }
  const conditions: Array<Condition> = []
  for (const [index, raw] of pieces.success.entries()) {
    const checked = checkCondition(fields, raw)
    if (Result.isFailure(checked)) {
      const { at, ...failure } = checked.failure
      return fail(failure, index, at, raw.text)
    }
    conditions.push(checked.success)
  }
  return Result.succeed(conditions)
}

/** Writes conditions in the grammar; `parse` reads them back. */
export const print = (conditions: ReadonlyArray<Condition>): string =>
  conditions.map(({ field, operator, value }) => `${field}:${operator}:${quote(String(value))}`).join(",")

/** The issue annotation under which the error boundary finds the finished error. */
export const failureAnnotation = "waypost/failure"

/** The query parameter for a record: text on the wire, conditions in handlers and typed clients. */
export const Filter = (record: Schema.Top) => {
  const fields = filterableOf(record)
  return Schema.String.annotate({
    description:
      "Conditions `field:operator:value`, joined by commas; all must hold. Fields: " +
      `${fields.map(({ path }) => `\`${path}\``).join(", ")}.`,
    examples: [`${fields.find(({ kind }) => kind === "string")?.path ?? "uuid"}:contains:a`]
  }).pipe(
    Schema.decodeTo(
      Schema.Array(Condition),
      SchemaTransformation.transformEffect<ReadonlyArray<Condition>, string>({
        decode: (filter, options) =>
          Result.match(parse(fields, filter), {
            onSuccess: (conditions) => Effect.succeed(conditions),
            onFailure: (error) =>
              Effect.fail(
                new SchemaIssue.InvalidValue({ message: error.message, [failureAnnotation]: error }, filter, options)
              )
          }),
        encode: (conditions) => Effect.succeed(print(conditions))
      })
    )
  )
}
