import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { check, codes, Condition, defer, type Failure, find } from "./FilterConditions.ts"
import { type Field, filterable, filterableOf, keyedOf } from "./FilterFields.ts"
import { print, split } from "./FilterSyntax.ts"
import { openWords } from "../schema/OpenWords.ts"
import { Count } from "../schema/WholeNumber.ts"

/**
 * The `filter` parameter: `field:operator:value`, joined by commas, all of which must hold; `field:not operator:value` holds
 * where the condition does not.
 *
 * The fields are those of the record as the API returns it, so a column that is not answered cannot be probed. The
 * text is cut into conditions by `FilterSyntax`, and `FilterConditions` checks each against the record. An error carries
 * the finished `InvalidFilterError`, which the error boundary finds in the schema issue.
 */
export class InvalidFilterError extends ApiError<InvalidFilterError>()(
  "InvalidFilterError",
  {
    message: Schema.String,
    code: openWords(codes),
    condition: Schema.String.annotate({ description: "The condition that is invalid, as it was sent." }),
    index: Count.annotate({ description: "Which condition, from 0." }),
    position: Count.annotate({ description: "The character of the filter where the problem is, from 0." }),
    suggestions: Schema.Array(Schema.String)
  },
  { httpApiStatus: 400 }
) {}

const maxConditions = 20
const maxCharacters = 2000
/** A list of values may be long. */
const maxWithList = 6000
const hasList = /:[ \t]*(?:not[ \t]+)?in[ \t]*:/i

const fail = (failure: Failure, index: number, position: number, condition: string) =>
  Result.fail(new InvalidFilterError({ suggestions: [], ...failure, index, position, condition }))

type Read = Result.Result<ReadonlyArray<Condition>, InvalidFilterError>

/** Reads a filter against the fields of a record; conditions on elements of the `keyed` lists are for `resolve`. */
export const parse = (fields: ReadonlyArray<Field>, filter: string, keyed: ReadonlyArray<string> = []): Read => {
  // Characters are code points here as everywhere, and only a filter with more code units can have too many.
  const limit = filter.length > maxCharacters && hasList.test(filter) ? maxWithList : maxCharacters
  const characters = filter.length > limit ? Array.from(filter) : []
  if (characters.length > limit) {
    const message = `A filter has at most ${limit} characters; this one has ${characters.length}`
    return fail({ code: "tooLong", message }, 0, limit, characters.slice(0, 100).join(""))
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
    const isKeyed = keyed.some((list) => raw.field.toLowerCase().startsWith(`${list.toLowerCase()}.`))
    const checked = isKeyed && find(fields, raw) === undefined ? defer(raw, index) : check(fields, raw)
    if (Result.isFailure(checked)) {
      const { at, ...failure } = checked.failure
      return fail(failure, index, at, raw.text)
    }
    conditions.push(checked.success)
  }
  return Result.succeed(conditions)
}

/** Checks the conditions on elements that are named by their keys, once the fields of the keys are known. */
export const resolve = (fields: ReadonlyArray<Field>, conditions: ReadonlyArray<Condition>): Read => {
  const resolved: Array<Condition> = []
  for (const condition of conditions) {
    const { sent } = condition
    const checked = sent === undefined ? Result.succeed(condition) : check(fields, sent)
    if (Result.isFailure(checked)) {
      const { at, ...failure } = checked.failure
      return fail(failure, sent?.index ?? 0, at, sent?.text ?? "")
    }
    resolved.push(checked.success)
  }
  return Result.succeed(resolved)
}

/** The issue annotation under which the error boundary finds the finished error. */
export const failureAnnotation = "waypost/failure"

/** The query parameter for a record: text on the wire, conditions in handlers and typed clients. */
export const Filter = (record: Schema.Top) => {
  const fields = filterableOf(record)
  const keyed = keyedOf(record)
  const paths = [...fields.map(({ path }) => path), ...Array.from(keyed.keys(), (list) => `${list}.<key>`)]
  return Schema.String.annotate({
    description: [
      "Conditions `field:operator:value`, joined by commas; all must hold. `field:in:(a|b)` is one of several values, `field:exists:true` has a value, and `not` before an operator negates it. Fields:",
      `${paths.map((path) => `\`${path}\``).join(", ")}.`,
      ...Array.from(keyed, ([list, keys]) => `In \`${list}.<key>\` the key is ${keys}.`)
    ].join(" "),
    [filterable]: fields.map(({ path }) => path),
    examples: [`${fields.find(({ kind }) => kind === "string")?.path ?? "uuid"}:contains:a`]
  }).pipe(
    Schema.decodeTo(
      Schema.Array(Condition),
      SchemaTransformation.transformEffect<ReadonlyArray<Condition>, string>({
        decode: (filter, options) =>
          Result.match(parse(fields, filter, [...keyed.keys()]), {
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
