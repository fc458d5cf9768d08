import { Result, Schema } from "effect"
import type { MetaTagIssue } from "./AssetMetaTag.ts"
import { isTimestamp, storable, WebUrl } from "../../schema/Fields.ts"
import { shown } from "../../write/Excerpts.ts"
import type { MetaTagDefinition, MetaTagType, MetaTagValue } from "./MetaTag.ts"
import { matches } from "./MetaTagPattern.ts"
import { limits } from "./MetaTagValidation.ts"

/** What the validation of a value needs to know of its definition. */
export type Definition = Pick<
  MetaTagDefinition,
  "uuid" | "key" | "type" | "required" | "editable" | "defaultValue" | "validation" | "options"
>

/** What is wrong with one value. */
export type Problem = Pick<MetaTagIssue, "code" | "message">

type Read<A> = Result.Result<A, ReadonlyArray<Problem>>
type Reader = (definition: ReadableDefinition, value: unknown, held: MetaTagValue | undefined) => Read<MetaTagValue>
type ReadableDefinition = Pick<Definition, "type" | "validation" | "options">

const invalid = (code: Problem["code"], message: string) => Result.fail([{ code, message }])

/** Succeeds when there is no problem. */
const unless = <A>(problems: ReadonlyArray<Problem>, value: A): Read<A> =>
  problems.length === 0 ? Result.succeed(value) : Result.fail(problems)

const isStorable = Schema.is(Schema.String.check(storable()))
const isStorableLong = Schema.is(Schema.String.check(storable(true)))
const isWebUrl = Schema.is(Schema.toType(WebUrl))

const characters = (value: string) => Array.from(value).length

/** Text in its normal form, within its bounds. */
const text =
  (longest: number, isWellFormed: (value: string) => boolean, expected: string): Reader =>
  ({ validation = {} }, value) => {
    if (typeof value !== "string") return invalid("wrongType", `Expected ${expected}`)
    const normal = value.normalize("NFC").trim()
    const [minimum, maximum] = [Math.max(validation.minLength ?? 0, 1), validation.maxLength ?? longest]
    // Each character is one or two code units, so that a text far too long need not be counted.
    const length = normal.length > 2 * longest ? normal.length : characters(normal)
    if (length < minimum) {
      return invalid("tooShort", minimum === 1 ? "Expected non-empty text" : `Expected at least ${minimum} characters`)
    }
    if (length > maximum) return invalid("tooLong", `Expected at most ${maximum} characters`)
    if (!isWellFormed(normal)) return invalid("wrongType", `Expected ${expected}`)
    return validation.pattern === undefined || matches(validation.pattern, normal)
      ? Result.succeed(normal)
      : invalid("pattern", `Expected text that matches ${validation.pattern} as a whole`)
  }

const number =
  (isNumber: (value: number) => boolean, expected: string): Reader =>
  ({ validation: { max = Infinity, min = -Infinity } = {} }, value) => {
    if (typeof value !== "number" || !isNumber(value)) return invalid("wrongType", `Expected ${expected}`)
    if (value < min) return invalid("outOfRange", `Expected at least ${min}`)
    if (value > max) return invalid("outOfRange", `Expected at most ${max}`)
    // Zero has a sign, which JSON text and database values lose at different times.
    return Result.succeed(value === 0 ? 0 : value)
  }

const form =
  (isForm: (value: string) => boolean, expected: string): Reader =>
  (_definition, value) => {
    const trimmed = typeof value === "string" ? value.trim() : ""
    return isForm(trimmed) ? Result.succeed(trimmed) : invalid("wrongType", `Expected ${expected}`)
  }

/** The problems of naming these options; those the asset has already may be inactive. */
const optionProblems = (
  { options }: ReadableDefinition,
  keys: ReadonlyArray<string>,
  held: ReadonlyArray<unknown>
): ReadonlyArray<Problem> => {
  const active = new Map(options.map((option) => [option.key, option.active]))
  return keys.slice(0, 20).flatMap((key): ReadonlyArray<Problem> => {
    if (!active.has(key)) return [{ code: "unknownOption", message: `There is no option "${shown(key)}"` }]
    if (active.get(key) === true || held.includes(key)) return []
    return [{ code: "inactiveOption", message: `The option "${shown(key)}" is no longer offered` }]
  })
}

const normalKey = (key: string) => key.normalize("NFC").trim()

const select: Reader = (definition, value, held) => {
  if (typeof value !== "string") return invalid("wrongType", "Expected the key of an option")
  const key = normalKey(value)
  return unless(optionProblems(definition, [key], [held]), key)
}

const multiSelect: Reader = (definition, value, held) => {
  const keys: ReadonlyArray<unknown> = Array.isArray(value) ? value : [undefined]
  if (!keys.every((key) => typeof key === "string")) return invalid("wrongType", "Expected a list of keys of options")
  const distinct = Array.from(new Set(keys.slice(0, limits.options + 1).map(normalKey)))
  const maximum = definition.validation?.maxItems ?? limits.options
  if (distinct.length === 0) return invalid("tooShort", "Expected at least one option")
  if (distinct.length > maximum) return invalid("tooMany", `Expected at most ${maximum} options`)
  return unless(optionProblems(definition, distinct, Array.isArray(held) ? held : []), distinct)
}

const aUrl = "an absolute http or https URL such as https://example.com"

const readers: Readonly<Record<MetaTagType, Reader>> = {
  text: text(limits.text, isStorable, "text on one line without control characters"),
  longText: text(limits.longText, isStorableLong, "text without control characters other than newline and tab"),
  url: text(limits.url, isWebUrl, aUrl),
  integer: number(Number.isSafeInteger, "a whole number"),
  decimal: number(Number.isFinite, "a number"),
  boolean: (_definition, value) =>
    typeof value === "boolean" ? Result.succeed(value) : invalid("wrongType", "Expected true or false"),
  date: form((value) => /^[\d-]{10}$/.test(value) && isTimestamp(`${value}T00:00:00.000Z`), "a day such as 2026-01-31"),
  dateTime: form(isTimestamp, "a UTC timestamp such as 2026-01-31T09:30:00.000Z"),
  select,
  multiSelect
}

/** The value in its normal form, or what its definition has against it; `held` is the value the asset has now. */
export const read = (
  definition: ReadableDefinition,
  value: unknown,
  held?: MetaTagValue
): Result.Result<MetaTagValue, ReadonlyArray<Problem>> => readers[definition.type](definition, value, held)
