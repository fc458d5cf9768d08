import { DateTime, Option, Schema, SchemaTransformation } from "effect"
import { meaning } from "../query/FilterFields.ts"
import { documented, matching, sourceOf } from "./Checks.ts"
import { inRange } from "./WholeNumber.ts"
import { normalise } from "./Normalise.ts"
import { uuidPattern } from "./UuidPattern.ts"

/**
 * The fields that records are made of. A field normalises text (trimmed, Unicode NFC, lower-case uuid) and then checks it, so
 * that the checked value is stored. The checks follow the normalisation, so the encoded side is a string without bounds;
 * `documented` adds them for the OpenAPI document.
 */

/** Any JSON, which the OpenAPI document describes as another schema. Not checked: a mebibyte of it would take half a second. */
export const anyJsonLike = (described: Schema.Top): Schema.Codec<unknown> =>
  Schema.Any.check(
    Schema.makeFilter(() => true, {
      representation: { id: "waypost/like", payload: null, schemas: [Schema.toEncoded(described).ast] },
      toJsonSchema: ({ schemas }) => schemas[0] ?? {}
    })
  )

const singleLine = /^\P{Cc}*$/u
const multipleLines = /^(?:\P{Cc}|[\n\t])*$/u

/** PostgreSQL stores neither NUL nor lone surrogates; other control characters only do harm in a name. */
export const storable = (multiline = false) =>
  Schema.makeFilter<string>((value) => value.isWellFormed() && (multiline ? multipleLines : singleLine).test(value), {
    expected: `text without control characters${multiline ? " other than newline and tab" : ""} or lone surrogates`,
    code: "invalidCharacters"
  })

/**
 * Text of `min` (1 unless given) to `max` code points after trimming; `multiline` allows newline and tab. `form` is the
 * documented pattern or format of a check that follows.
 */
export const text = (
  max: number,
  options: {
    readonly min?: number
    readonly multiline?: boolean
    readonly form?: Readonly<Record<string, string>>
  } = {}
) => {
  const { form = {}, min = 1, multiline = false } = options
  return Schema.String.check(documented({ minLength: min, maxLength: max, ...form })).pipe(
    Schema.decodeTo(
      Schema.String.check(
        storable(multiline),
        Schema.isMinCodePoints(min, {
          expected: min === 1 ? "non-empty text" : `at least ${min} characters`,
          code: "tooShort"
        }),
        Schema.isMaxCodePoints(max, { expected: `at most ${max} characters`, code: "tooLong" })
      ),
      normalise((value) => value.normalize("NFC").trim())
    )
  )
}

/** A check of names that must differ visibly. */
export const visible = Schema.makeFilter<string>((value) => !/\p{Default_Ignorable_Code_Point}/u.test(value), {
  expected: "text without invisible characters, such as zero-width spaces and marks of text direction",
  code: "invalidCharacters"
})

/** Text with a pattern, or with a format that JSON Schema knows; `expected` completes the sentence "Expected …". */
export const formed = (
  max: number,
  form: {
    readonly pattern: RegExp
    readonly expected: string
    readonly example: string
    readonly format?: string
    readonly min?: number
  }
) =>
  text(max, {
    min: form.min ?? 1,
    form: form.format === undefined ? { pattern: sourceOf(form.pattern) } : { format: form.format }
  })
    .check(matching(form.pattern, form.expected))
    .pipe(Schema.annotateEncoded({ examples: [form.example] }))

/** Whether a text is a UUID in lower case. */
export const isUuid = (value: string): boolean => uuidPattern.test(value)

/** Any UUID, in either case; stored and answered in lower case. */
export const Uuid = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(matching(uuidPattern, "a UUID such as 0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30")),
    normalise((value) => value.trim().toLowerCase())
  ),
  Schema.annotateEncoded({ format: "uuid" })
)

// PostgreSQL has no year 0.
const timestampPattern = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** True for `YYYY-MM-DDTHH:MM:SS.mmmZ` on a day that exists; the 31st of February would quietly become March. */
export const isTimestamp = (value: string): boolean =>
  timestampPattern.test(value) &&
  Option.match(DateTime.make(value), {
    onNone: () => false,
    onSome: (instant) => DateTime.formatIso(instant) === value
  })

const aTimestamp = { expected: "a UTC timestamp such as 2026-01-31T09:30:00.000Z", code: "invalidFormat" }

/** A point in time, ISO 8601 in UTC with milliseconds: `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
export const Timestamp = Schema.String.check(
  Schema.makeFilter<string>(isTimestamp, { ...aTimestamp, toJsonSchema: () => ({ format: "date-time" }) })
).pipe(
  Schema.decodeTo(Schema.DateTimeUtc, SchemaTransformation.dateTimeUtcFromString),
  Schema.annotateEncoded({ format: "date-time", examples: ["2026-01-31T09:30:00.000Z"] })
)

/** A timestamp that nothing reads, or null. It is not decoded; a client may have decoded the one that it sends back. */
export const UnreadTimestamp = anyJsonLike(Timestamp).check(
  Schema.makeFilter<unknown>(
    (value) => value === null || DateTime.isDateTime(value) || (typeof value === "string" && isTimestamp(value)),
    aTimestamp
  )
)

/** At most 254 characters, one `@`, a domain with a dot; stored as typed. */
export const Email = formed(254, {
  pattern: /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/,
  expected: "an e-mail address such as info@example.com",
  format: "email",
  example: "info@example.com"
})

const aWebUrl = "an absolute http or https URL such as https://example.com"

/** An absolute `http` or `https` URL of at most 2,048 characters. */
export const WebUrl = formed(2048, {
  pattern: /^[hH][tT][tT][pP][sS]?:\/\/[^\s/]\S*$/,
  expected: aWebUrl,
  format: "uri",
  example: "https://example.com"
}).check(Schema.makeFilter<string>((value) => URL.canParse(value), { expected: aWebUrl, code: "invalidFormat" }))

/** 3 to 32 of `+ 0-9 ( ) . - /` and space; stored as typed, because rejecting odd local numbers loses customers. */
export const Phone = formed(32, {
  pattern: /^[+0-9().\-/ ]{3,32}$/,
  expected: "a phone number of 3 to 32 digits, spaces and + ( ) . - /",
  example: "+31 30 123 45 67"
}).pipe(Schema.annotateEncoded({ [meaning]: "phone" }))

/** A number from `minimum` to `maximum` with at most `decimals` decimal places. */
export const decimal = (minimum: number, maximum: number, decimals: number) =>
  Schema.Finite.check(
    Schema.makeFilter<number>((value) => Number(value.toFixed(decimals)) === value, {
      expected: `a number with at most ${decimals} decimals`,
      code: "tooPrecise"
    }),
    inRange(minimum, maximum, `a number from ${minimum} to ${maximum}`)
  )
