import { Array as Arr, Effect, Option, Order, Schema, SchemaTransformation } from "effect"
import { canonical, type InvalidLocaleError, Locale, type Locales } from "./Locale.ts"

/** The most locales a text can have. */
const maxTranslations = 100

/** In its normal case where it is known, so that `nl_nl` and `nl-NL` are seen to be one; otherwise as it was sent. */
export const ItemLocale = Locale.pipe(
  Schema.decode(
    SchemaTransformation.transform<string, string>({
      decode: (locale) => Option.getOrElse(canonical(locale), () => locale),
      encode: (locale) => locale
    })
  )
)

interface Localised {
  readonly locale: string
}

const byLocale = Order.mapInput(Order.String, ({ locale }: Localised) => locale)

const onePerLocale = <Items extends ReadonlyArray<unknown>>() =>
  Schema.makeFilter<Items>(
    (items) =>
      new Set((items as unknown as ReadonlyArray<Localised>).map(({ locale }) => locale)).size === items.length,
    { expected: "at most one translation per locale", code: "notUnique" }
  )

/**
 * Text in several languages: items of a `locale` and `fields`, at most one per locale, sorted by locale. `min` is how many
 * there must be at least, 0 unless given. Whether the locales are accepted is for `checkLocales` to say.
 */
export const translations = <const Fields extends Schema.Struct.Fields>(
  fields: Fields,
  options: { readonly min?: number } = {}
) => {
  const { min = 0 } = options
  const items = Schema.Array(Schema.Struct({ locale: ItemLocale, ...fields }))
  type Items = typeof items.Type
  const bounded = items.check(
    Schema.isMaxLength(maxTranslations, { expected: `at most ${maxTranslations} translations`, code: "tooMany" }),
    onePerLocale<Items>()
  )
  const enough = Schema.isMinLength(min, { expected: `at least ${min} translation`, code: "tooFew" })
  return (min === 0 ? bounded : bounded.check(enough)).pipe(
    Schema.decode(
      SchemaTransformation.transform<Items, Items>({
        decode: (list) => Arr.sort(list as unknown as ReadonlyArray<Localised>, byLocale) as unknown as Items,
        encode: (list) => list
      })
    )
  )
}

/** The translations with their locales in canonical form, if all of them are accepted here. */
export const checkLocales = <Item extends Localised>(
  locales: Locales["Service"],
  list: ReadonlyArray<Item>
): Effect.Effect<ReadonlyArray<Item>, InvalidLocaleError> =>
  Effect.forEach(list, (item) => Effect.map(locales.check(item.locale), (locale) => ({ ...item, locale })))
