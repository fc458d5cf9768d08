import { Schema } from "effect"
import { text } from "../../schema/Fields.ts"
import { Key, list, position, translations } from "../ModuleFields.ts"
import { readOnly, references } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { OptionValue } from "../OptionValue.ts"
import { Product } from "../Product.ts"
import { ProductId } from "../ProductId.ts"
import { Count, int } from "../../schema/WholeNumber.ts"

const Value = Schema.Struct({
  key: Key,
  translations: translations({ label: text(255) }),
  swatch: Schema.optionalKey(
    text(2048).pipe(Schema.annotateEncoded({ description: "A colour such as #12489c, or the URL of an image." }))
  ),
  position
})

const VariantOption = Schema.Struct({
  key: Key,
  translations: translations({ name: text(255) }),
  position,
  values: list(Value, { max: 100, min: 1, of: "values", uniqueBy: "key" })
})

const Variant = Schema.Struct({
  uuid: ProductId,
  identifier: Schema.String,
  name: Schema.String,
  optionValues: Schema.Array(OptionValue),
  active: Schema.Boolean.annotate({ description: "Whether it is published." }),
  position: int(0, 1_000_000),
  thumbnailUrl: Product.fields.thumbnailUrl,
  available: Schema.optionalKey(Schema.Int.annotate({ description: "Of a variant whose stock is tracked." }))
})

/** What the variants of the product differ in, and which there are. */
export const VariantsModule = Module.make("variants", {
  options: list(VariantOption, { max: 5, min: 1, of: "options", uniqueBy: "key" }),
  variants: readOnly(Schema.Array(Variant)).annotate({
    description: "Products of type variant; they are written as such."
  }),
  defaultVariantUuid: Schema.optionalKey(ProductId.pipe(references("products"))),
  missingCombinations: readOnly(Count).annotate({
    description: "How many combinations of the options have no variant."
  })
})

/** How many combinations of the options have no variant. */
export const missingCombinations = (
  options: ReadonlyArray<{ readonly key: string; readonly values: ReadonlyArray<{ readonly key: string }> }>,
  variants: ReadonlyArray<{ readonly optionValues: ReadonlyArray<typeof OptionValue.Type> }>
): number => {
  const fits = (optionValues: ReadonlyArray<typeof OptionValue.Type>) =>
    optionValues.length === options.length &&
    options.every(({ key, values }) => {
      const chosen = optionValues.find(({ option }) => option === key)
      return chosen !== undefined && values.some((value) => value.key === chosen.value)
    })
  const all = options.reduce((count, { values }) => count * values.length, 1)
  return all - variants.filter(({ optionValues }) => fits(optionValues)).length
}
