import { colours, garments, sizes } from "./catalogue.ts"
import { embroidery } from "./forms.ts"
import * as Goods from "./goods.ts"
import { aboutOf, product } from "./product.ts"
import * as Rules from "./rules.ts"
import { combined, type Texts, texts, translated } from "./words.ts"

/** Uniforms: a parent for each garment, and its variants in sizes and colours; the largest cap is not made in white. */
export const uniforms = () =>
  garments.flatMap(({ key, names, rest: [cents] }, garment) => {
    const parent = key.toUpperCase()
    const about = texts("Van biologisch katoen", "Of organic cotton", "Aus Biobaumwolle", "En coton biologique")
    const variants = sizes.flatMap((size, row) =>
      colours.flatMap((colour, column) => {
        if (key === "cap" && size === "xxl" && colour.key === "white") return []
        const seed = garment * 18 + row * 3 + column
        const title = combined((language) => `${names[language]} ${colour.names[language]} ${size.toUpperCase()}`)
        return product(`${key}-${colour.key}-${size}`, title, aboutOf(names, about), {
          type: "variant",
          parent,
          options: [`size=${size}`, `colour=${colour.key}`],
          position: row * 10 + column,
          modules: {
            stock: Goods.stock(seed + 5, { maxOrderQuantity: 20, restockableInDays: 30 }),
            ...(row === 5 ? { price: Goods.price(Number(cents) + 200) } : {})
          }
        })
      })
    )
    const option = (optionKey: string, name: Texts, values: ReadonlyArray<object>) => ({
      key: optionKey,
      translations: translated({ name }),
      values
    })
    const options = [
      option(
        "size",
        texts("Maat", "Size", "Größe", "Taille"),
        sizes.map((size) => ({
          key: size,
          translations: translated({ label: combined(() => size.toUpperCase()) })
        }))
      ),
      option(
        "colour",
        texts("Kleur", "Colour", "Farbe", "Couleur"),
        colours.map(({ key: colour, names: label, swatch }) => ({
          key: colour,
          swatch,
          translations: translated({ label })
        }))
      )
    ]
    const whole = product(key, names, aboutOf(names, about), {
      type: "variantParent",
      categories: ["uniforms"],
      position: garment,
      modules: {
        variants: { options, defaultVariantUuid: `${parent}-CORNFLOWER-M` },
        price: Goods.price(Number(cents), { costCenterRequired: true }),
        delivery: Goods.shipped(350),
        distribution: { channels: [{ channel: "api", formats: [] }] },
        api: Rules.supplier(`TX-${key}`),
        "form-builder": embroidery,
        permissions: Rules.forEveryone,
        workflow: Rules.approval(15_000),
        locations: Rules.everywhere
      }
    })
    return [whole, ...variants]
  })
