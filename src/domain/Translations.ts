import { Array as Arr, Option, Order, Schema, SchemaTransformation } from "effect"
import { canonical, Locale } from "./Locale.ts"

/** How many locales one text can be told in. */
const maxTranslations = 100

const inOrder = Arr.sortBy(Order.mapInput(Order.String, ({ locale }: { readonly locale: string }) => locale))

/** The locale as it will be stored, so that `nl_nl` and `nl-NL` are one; whether it is valid is said elsewhere. */
const normalised = <A extends { readonly locale: string }>(item: A): A => ({
  ...item,
  locale: Option.getOrElse(canonical(item.locale), () => item.locale)
})

/** Localised text: what the fields say in each locale, at most once per locale, sorted by locale. */
export const translations = <F extends Schema.Struct.Fields>(fields: F, identifier: string) => {
  const item = Schema.Struct({ locale: Locale, ...fields }).annotate({ identifier })
  type Item = (typeof item)["Type"] & { readonly locale: string }
  const items = Schema.Array(item).check(
    Schema.isMaxLength(maxTranslations, { expected: `at most ${maxTranslations} translations`, code: "tooMany" })
  )
  return items.pipe(
    Schema.decodeTo(
      Schema.toType(items).check(
        Schema.makeFilter<ReadonlyArray<unknown>>(
          (list) => new Set(list.map((one) => (one as Item).locale)).size === list.length,
          { expected: "at most one translation per locale", code: "duplicate" }
        )
      ),
      SchemaTransformation.transform<ReadonlyArray<any>, ReadonlyArray<any>>({
        decode: (list) => inOrder(list.map(normalised)),
        encode: (list) => list
      })
    )
  )
}
