import { Schema } from "effect"
import { patternText } from "../schema/Checks.ts"
import { text, Uuid } from "../schema/Fields.ts"
import { Locale } from "../schema/Locale.ts"
import { maxTranslations } from "../schema/Translations.ts"
import { int } from "../schema/WholeNumber.ts"
import type { Problem } from "../write/Completion.ts"
import { generated, mark, references, withDefault } from "../write/Markers.ts"

/** The fields that product modules are made of, in addition to those of `Fields.ts`. */

export const flag = (fallback: boolean) => withDefault(Schema.Boolean, fallback)

export const choice = <const L extends ReadonlyArray<string>>(words: L, fallback: L[number]) =>
  withDefault(Schema.Literals(words), fallback)

/** The uuid of a part of a module: generated unless the client sends back one that it read. */
export const partUuid = generated("uuid")(Uuid)

/** The position of a part in its list: its index unless the client sends one. */
export const position = generated("index")(int(0, 1_000_000))

/** A locale, or a list of them, that the service must accept. */
export const acceptedLocale = references("locales")

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
    ...(min > 0 ? { required: true } : {}),
    ...(uniqueBy === undefined ? {} : { uniqueBy }),
    ...(sortBy === undefined ? {} : { sortBy })
  })
}

/** Localised text: what the fields say in each locale, at most once per locale, sorted by locale. */
export const translations = <const F extends Schema.Struct.Fields>(fields: F) =>
  list(Schema.Struct({ locale: acceptedLocale(Locale), ...fields }), {
    max: maxTranslations,
    of: "translations",
    uniqueBy: "locale",
    sortBy: "locale"
  })

/** The name by which parts of a module speak of each other. */
export const Key = text(100).pipe(Schema.annotateEncoded({ examples: ["standard"] }))

export const Color = patternText(/^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$/, "a colour such as #12489c", "#12489c")

/** A problem, unless the condition holds. */
export const unless = (holds: boolean, path: string, code: string, message: string): ReadonlyArray<Problem> =>
  holds ? [] : [{ path, code, message }]

/** Whether two values, if both are there, are in order. */
export const inOrder = <A extends string | number>(first: A | undefined, second: A | undefined, strictly = false) =>
  first === undefined || second === undefined || (strictly ? first < second : first <= second)
