import { Result, Schema } from "effect"
import { text, Uuid } from "../schema/Fields.ts"
import { Locale } from "../schema/Locale.ts"
import { type Lookup, mark, type Problem, type Referenced } from "./ModuleShape.ts"
import { int } from "../schema/WholeNumber.ts"

/** The fields that product modules are made of, beside those of `Fields.ts`. */

/** A member that has a value without being told. */
export const defaulted = <S extends Schema.Top>(schema: S, fallback: NoInfer<S["Encoded"]>): S =>
  mark(Schema.annotateEncoded({ default: fallback })(schema) as unknown as S, { fallback })

export const flag = (fallback: boolean) => defaulted(Schema.Boolean, fallback)

/** One of some words, the first unless told otherwise. */
export const choice = <const L extends ReadonlyArray<string>>(words: L, fallback: L[number]) =>
  defaulted(Schema.Literals(words), fallback as never)

/** A member no client writes; it is accepted and ignored. */
export const readOnly = <S extends Schema.Top>(schema: S): S => mark(schema, { readOnly: true })

/** The uuid of a part of a module: made by the server unless the client sends back one that it read. */
export const partUuid = mark(Uuid, { fill: "uuid" })

/** Where a part stands among its like: its place in the list unless told otherwise. */
export const position = mark(int(0, 1_000_000), { fill: "index" })

/** A list of at most `max`, and at least `min`, parts; `uniqueBy` names the member in which they differ. */
export const list = <S extends Schema.Top>(
  item: S,
  options: {
    readonly max: number
    readonly min?: number
    readonly of: string
    readonly uniqueBy?: string
    readonly sortBy?: string
  }
) => {
  const { max, min = 0, of, sortBy, uniqueBy } = options
  const tooMany = Schema.isMaxLength(max, { expected: `at most ${max} ${of}`, code: "tooMany" })
  const tooFew = Schema.isMinLength(min, { expected: `at least ${min} of the ${of}`, code: "tooFew" })
  return mark(Schema.Array(item).check(tooMany, ...(min > 0 ? [tooFew] : [])), {
    ...(min > 0 ? { needed: true } : {}),
    ...(uniqueBy === undefined ? {} : { uniqueBy }),
    ...(sortBy === undefined ? {} : { sortBy })
  })
}

/** Localised text: what the fields say in each locale, at most once per locale, sorted by locale. */
export const translations = <const F extends Schema.Struct.Fields>(fields: F) =>
  list(Schema.Struct({ locale: Locale, ...fields }), {
    max: 100,
    of: "translations",
    uniqueBy: "locale",
    sortBy: "locale"
  })

/** The name by which parts of a module speak of each other. */
export const Key = text(100).pipe(Schema.annotateEncoded({ examples: ["standard"] }))

const formed = (pattern: RegExp, expected: string, example: string) =>
  Schema.String.check(Schema.isPattern(pattern, { expected, code: "invalidFormat" })).annotate({ examples: [example] })

export const TimeOfDay = formed(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "a time of day such as 16:30", "16:30")
export const Color = formed(/^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$/, "a colour such as #12489c", "#12489c")

const aTimeZone = "an IANA time zone such as Europe/Amsterdam"

/** An IANA time zone; offsets are none. */
export const TimeZone = formed(
  /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/,
  aTimeZone,
  "Europe/Amsterdam"
).check(
  Schema.makeFilter<string>(
    (zone) => Result.isSuccess(Result.try(() => new Intl.DateTimeFormat("en", { timeZone: zone }))),
    { expected: aTimeZone, code: "unknownTimeZone" }
  )
)

/** Names are told to keys that may read the record, and never written here. */
export const visibleName = (entity: string) =>
  Schema.optionalKey(readOnly(Schema.String.annotate({ description: `For keys with \`read:${entity}\`.` })))

/** The entries whose record exists, with what may be told of it. */
export const existing = <A>(
  entries: ReadonlyArray<A>,
  look: Lookup,
  kind: Referenced,
  idOf: (entry: A) => string
): ReadonlyArray<A> =>
  entries.flatMap((entry) => {
    const facts = look(kind, idOf(entry))
    return facts === undefined ? [] : [{ ...entry, ...facts }]
  })

/** A problem, unless the condition holds. */
export const unless = (holds: boolean, path: string, code: string, message: string): ReadonlyArray<Problem> =>
  holds ? [] : [{ path, code, message }]

/** Whether two values, if both are there, are in order. */
export const inOrder = <A extends string | number>(first: A | undefined, second: A | undefined, strictly = false) =>
  first === undefined || second === undefined || (strictly ? first < second : first <= second)
