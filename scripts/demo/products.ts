import * as Modules from "./modules.ts"
import { pictures } from "./pictures.ts"
import { capitals, combined, rows, table, type Texts, texts, translated } from "./texts.ts"

/** The printed and digital material of each article, with its size in millimetres or pixels and its price in cents. */
const media = table(`
  poster-a3 | Affiche A3 | A3 poster | Plakat A3 | Affiche A3 | paper | 297 | 420 | 195
  poster-a1 | Affiche A1 | A1 poster | Plakat A1 | Affiche A1 | paper | 594 | 841 | 690
  flyer-a5 | Flyer A5 | A5 flyer | Flyer A5 | Dépliant A5 | paper | 148 | 210 | 12
  sticker | Raamsticker | Window sticker | Fensteraufkleber | Autocollant de vitrine | paper | 600 | 600 | 1450
  menu | Menukaart | Menu card | Speisekarte | Carte de menu | paper | 148 | 297 | 240
  roll-up | Roll-upbanner | Roll-up banner | Roll-up-Banner | Enrouleur | paper | 850 | 2000 | 5900
  screen | Schermbeeld | Screen | Bildschirm | Écran | screen | 1920 | 1080
  story | Story | Story | Story | Story | social | 1080 | 1920
`)

const garments = table(`
  polo | Poloshirt | Polo shirt | Poloshirt | Polo | 1650
  baker-jacket | Bakkersjas | Baker’s jacket | Bäckerjacke | Veste de boulanger | 3450
  apron | Schort | Apron | Schürze | Tablier | 1250
`)
const sizes = ["s", "m", "l", "xl"]
const colours = table(`
  cornflower | Korenbloemblauw | Cornflower blue | Kornblumenblau | Bleuet | #4666b0
  wheat | Tarwe | Wheat | Weizen | Blé | #e5c687
`)

/** Supplies, with the number of pieces in a box, its weight in grams and its price in cents. */
const supplies = table(`
  bread-bag | Broodzak | Bread bag | Brottüte | Sac à pain | 1000 | 4200 | 2450
  carrier-bag | Draagtas | Carrier bag | Tragetasche | Sac de caisse | 250 | 7500 | 3900
  cake-box | Taartdoos | Cake box | Tortenkarton | Boîte à gâteau | 100 | 6900 | 3390
  cup | Koffiebeker | Coffee cup | Kaffeebecher | Gobelet | 1000 | 7800 | 4950
  napkin | Servet | Napkin | Serviette | Serviette | 2000 | 6400 | 1890
  loyalty-card | Spaarkaart | Loyalty card | Treuekarte | Carte de fidélité | 500 | 1200 | 1690
`)

/** Equipment that is lent for events, with its quantity. */
const lent = table(`
  tent | Partytent | Party tent | Partyzelt | Tente | 24
  coffee-cart | Koffiekar | Coffee cart | Kaffeewagen | Chariot à café | 12
  photo-wall | Fotowand | Photo wall | Fotowand | Mur à photos | 15
  mascot | Mascottepak | Mascot costume | Maskottchenkostüm | Costume de mascotte | 6
`)

const product = (
  identifier: string,
  names: Texts,
  { modules, ...rest }: { modules: object; [member: string]: unknown }
) => ({
  type: "default",
  identifier: identifier.toUpperCase(),
  name: capitals(names).en,
  translations: translated({ name: capitals(names) }),
  status: "published",
  ...rest,
  modules
})

/** One in five articles is advertised: each has a product for every kind of material. */
const isAdvertised = (_: unknown, index: number) => index % 5 === 0

const material = (assets: ReadonlyMap<string, string>) =>
  pictures
    .filter(({ category }) => ["breads", "pastries", "snacks", "drinks"].includes(category))
    .filter(isAdvertised)
    .flatMap((article, row) =>
      media.map(({ key, names, rest: [kind, wide, high, cents] }, column) => {
        const [width, height, amount] = [Number(wide), Number(high), Number(cents)]
        const english = article.names.en
        const title = combined((language) => `${names[language]}: ${article.names[language]}`)
        const paper = {
          template: Modules.template(title.en, [Modules.print(width, height), Modules.screen("png", 800, 800)]),
          delivery: Modules.shipped(Math.round((width * height) / 5000)),
          distribution: row % 10 === 0 ? Modules.allotted : Modules.printed,
          price: Modules.price(amount),
          api: Modules.supplier(`DH-${row}-${key}`),
          ...(amount > 500 ? { workflow: Modules.approval(2500) } : {})
        }
        const digital = {
          template: Modules.template(title.en, [Modules.screen(kind === "screen" ? "mp4" : "jpg", width, height)]),
          distribution: kind === "screen" ? Modules.shown : Modules.posted,
          price: { model: "free" },
          ...(kind === "social" ? { socials: Modules.socials(title) } : {})
        }
        return product(`${key}-${english.replaceAll(" ", "-")}`, title, {
          categories: ["advertising", kind],
          tags: article.metaTags.seasons,
          position: row * media.length + column,
          modules: {
            ...(kind === "paper" ? paper : digital),
            files: Modules.files(assets.get(english.toLowerCase()), kind === "paper" ? "print" : "preview"),
            permissions: column % 4 === 3 ? Modules.forFlagships : Modules.forEveryone,
            ...(article.metaTags.seasons.length > 0 ? { campaigns: Modules.campaigns(key) } : {}),
            ...(row % 7 === 0 ? { "internal-comment": Modules.comment(title.en) } : {})
          }
        })
      })
    )

/** A parent for each garment, and its variants in sizes and colours. */
const uniforms = garments.flatMap(({ key, names, rest: [cents] }, garment) => {
  const variants = sizes.flatMap((size, row) =>
    colours.map((colour, column) =>
      product(
        `${key}-${colour.key}-${size}`,
        combined((language) => `${names[language]} ${colour.names[language]} ${size.toUpperCase()}`),
        {
          type: "variant",
          parent: key.toUpperCase(),
          options: [`size=${size}`, `colour=${colour.key}`],
          modules: { stock: Modules.stock(garment * 18 + row * 3 + column + 5, { maxOrderQuantity: 20 }) }
        }
      )
    )
  )
  const options = [
    {
      key: "size",
      translations: translated({ name: texts("Maat", "Size", "Größe", "Taille") }),
      values: sizes.map((key) => ({ key, translations: translated({ label: combined(() => key.toUpperCase()) }) }))
    },
    {
      key: "colour",
      translations: translated({ name: texts("Kleur", "Colour", "Farbe", "Couleur") }),
      values: colours.map(({ key, names, rest: [swatch] }) => ({
        key,
        swatch,
        translations: translated({ label: names })
      }))
    }
  ]
  const parent = product(key, names, {
    type: "variantParent",
    categories: ["uniforms"],
    modules: {
      variants: { options, defaultVariantUuid: `${key}-CORNFLOWER-M`.toUpperCase() },
      price: Modules.price(Number(cents), { costCenterRequired: true }),
      delivery: Modules.shipped(350),
      distribution: Modules.byApi,
      permissions: Modules.forEveryone,
      locations: Modules.everywhere
    }
  })
  return [parent, ...variants]
})

const boxes = supplies.map(({ key, names, rest: [pieces, grams, cents] }, index) =>
  product(
    key,
    combined((language) => `${names[language]}, ${pieces} ×`),
    {
      categories: ["supplies"],
      modules: {
        stock: Modules.stock(index + 3, { mode: index % 4 === 0 ? "reserveOnCart" : "reserveOnOrder" }),
        price: Modules.price(Number(cents), { unit: "set", taxRatePercent: 9 }),
        delivery: Modules.shipped(Number(grams)),
        locations: Modules.everywhere,
        permissions: Modules.forEveryone
      }
    }
  )
)

const events = lent.map(({ key, names, rest: [quantity] }) =>
  product(key, names, {
    categories: ["events"],
    modules: {
      reservations: Modules.reservations(Number(quantity)),
      "form-builder": Modules.booking(names),
      locations: Modules.inCountries("NL", "BE", "DE", "FR"),
      delivery: Modules.shipped(20_000),
      workflow: Modules.approval(1),
      permissions: Modules.forFlagships,
      price: { model: "free" }
    }
  })
)

/** The shop: products with every kind of module. */
export const products = (assets: ReadonlyMap<string, string>) =>
  rows([...material(assets), ...uniforms, ...boxes, ...events])
