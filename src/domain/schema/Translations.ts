import { Array as Arr, Effect, Option, Order, Predicate, Schema, SchemaGetter } from "effect"
import { atMost } from "./Checks.ts"
import { canonical, type InvalidLocaleError, Locale, type Locales } from "./Locale.ts"
import { normalise } from "./Normalise.ts"

/** How many translations a text has at most. */
export const maxTranslations = 100

/** In its normal case where it is known, so that `nl_nl` and `nl-NL` are seen to be one; otherwise as it was sent. */
export const ItemLocale = Locale.pipe(
  Schema.decode(normalise<string>((locale) => Option.getOrElse(canonical(locale), () => locale)))
)

interface Localised {
  readonly locale: string
}

/** The type of an item depends on the other fields, which are not known here. */
const localeOf = (item: unknown) => (Predicate.hasProperty(item, "locale") ? String(item.locale) : "")

const byLocale = Order.mapInput(Order.String, localeOf)

const onePerLocale = Schema.makeFilter<ReadonlyArray<unknown>>(
  (items) => new Set(items.map(localeOf)).size === items.length,
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
  const bounded = items.check(atMost(maxTranslations, "translations"), onePerLocale)
  const enough = Schema.isMinLength(min, { expected: `at least ${min} translation`, code: "tooFew" })
  return (min === 0 ? bounded : bounded.check(enough)).pipe(
    Schema.decode(normalise<Items>((list) => Arr.sort(list, byLocale)))
  )
}

/** An optional text of translations as a write sends it: `null` is the same as absent, because their list is replaced whole. */
export const sentText = (text: Schema.Codec<string>) =>
  Schema.optionalKey(Schema.NullOr(text)).pipe(
    Schema.decodeTo(Schema.optionalKey(Schema.toType(text)), {
      decode: SchemaGetter.transformOptional(Option.filter(Predicate.isNotNull)),
      encode: SchemaGetter.passthroughSubtype()
    })
  )

/**
 * The translations with their locales in canonical form, if all of them are accepted here. One that is removed can be in any known
 * locale, because the list of those that are accepted may have had it before.
 */
export const checkLocales = <Item extends Localised>(
  locales: Locales["Service"],
  list: ReadonlyArray<Item>,
  isRemoved: (item: Item) => boolean = () => false
): Effect.Effect<ReadonlyArray<Item>, InvalidLocaleError> =>
  Effect.forEach(list, (item) =>
    Option.match(isRemoved(item) ? canonical(item.locale) : Option.none(), {
      onNone: () => locales.check(item.locale),
      onSome: Effect.succeed
    }).pipe(Effect.map((locale) => ({ ...item, locale })))
  )
