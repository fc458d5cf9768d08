import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/**
 * What the demo shows: pictures of food, seasons, cities and shops from Fluent Emoji (Microsoft, MIT) and photographs from
 * the theme Business Casual (Start Bootstrap, MIT). The names of the pictures follow the Unicode CLDR (Unicode, Inc.,
 * Unicode License v3); allergens and seasons are invented.
 */
export const languages = ["nl", "en", "de", "fr"] as const
type Language = (typeof languages)[number]

/** A text in every language of the demo. */
export type Texts = Readonly<Record<Language, string>>

const texts = (nl: string, en: string, de: string, fr: string): Texts => ({ nl, en, de, fr })

/** Texts as the API takes them. */
export const translations = <Member extends string>(member: Member, all: Texts) =>
  languages.map((locale) => ({ locale, [member]: all[locale] }) as { locale: string } & Record<Member, string>)

/** An image on the disk, and what is to be said of it. */
export interface Image {
  readonly path: string
  readonly fileName: string
  readonly category: string
  readonly names: Texts
  readonly descriptions: Texts
  readonly metaTags: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly focalPoint?: { readonly x: number; readonly y: number }
}

/** The tree that assets are sorted into, parents first. */
export const categories: ReadonlyArray<{ readonly key: string; readonly parent?: string; readonly names: Texts }> = [
  { key: "products", names: texts("Producten", "Products", "Produkte", "Produits") },
  { key: "breads", parent: "products", names: texts("Brood", "Breads", "Brot", "Pains") },
  { key: "pastries", parent: "products", names: texts("Gebak en zoet", "Pastries", "Gebäck und Süßes", "Pâtisseries") },
  { key: "snacks", parent: "products", names: texts("Hartig", "Snacks", "Herzhaftes", "Salé") },
  { key: "drinks", parent: "products", names: texts("Dranken", "Drinks", "Getränke", "Boissons") },
  { key: "ingredients", parent: "products", names: texts("Ingrediënten", "Ingredients", "Zutaten", "Ingrédients") },
  { key: "campaigns", names: texts("Campagnes", "Campaigns", "Kampagnen", "Campagnes") },
  { key: "seasons", parent: "campaigns", names: texts("Seizoenen", "Seasons", "Jahreszeiten", "Saisons") },
  { key: "celebrations", parent: "campaigns", names: texts("Feesten", "Celebrations", "Feste", "Fêtes") },
  { key: "shops", names: texts("Winkels", "Shops", "Filialen", "Magasins") },
  { key: "cities", parent: "shops", names: texts("Steden", "Cities", "Städte", "Villes") },
  { key: "delivery", parent: "shops", names: texts("Bezorging", "Delivery", "Lieferung", "Livraison") },
  { key: "shopfloor", parent: "shops", names: texts("Winkelvloer", "Shop floor", "Verkaufsraum", "Espace de vente") },
  { key: "brand", names: texts("Merk", "Brand", "Marke", "Marque") },
  { key: "logos", parent: "brand", names: texts("Logo's", "Logos", "Logos", "Logos") },
  { key: "photos", parent: "brand", names: texts("Foto's", "Photos", "Fotos", "Photos") }
]

const option = (key: string, ...labels: Parameters<typeof texts>) => ({
  key,
  translations: translations("label", texts(...labels))
})

/** What can be said of assets beside their names. */
export const metaTags = [
  {
    key: "allergens",
    type: "multiSelect",
    translations: translations("name", texts("Allergenen", "Allergens", "Allergene", "Allergènes")),
    categories: ["products"],
    filterable: true,
    searchable: true,
    options: [
      option("gluten", "Gluten", "Gluten", "Gluten", "Gluten"),
      option("milk", "Melk", "Milk", "Milch", "Lait"),
      option("egg", "Ei", "Egg", "Ei", "Œuf"),
      option("nuts", "Noten", "Nuts", "Schalenfrüchte", "Fruits à coque"),
      option("peanuts", "Pinda's", "Peanuts", "Erdnüsse", "Arachides"),
      option("soya", "Soja", "Soya", "Soja", "Soja"),
      option("fish", "Vis", "Fish", "Fisch", "Poisson"),
      option("crustaceans", "Schaaldieren", "Crustaceans", "Krebstiere", "Crustacés")
    ]
  },
  {
    key: "seasons",
    type: "multiSelect",
    translations: translations("name", texts("Seizoen", "Season", "Jahreszeit", "Saison")),
    categories: ["products", "campaigns"],
    filterable: true,
    searchable: true,
    options: [
      option("spring", "Lente", "Spring", "Frühling", "Printemps"),
      option("summer", "Zomer", "Summer", "Sommer", "Été"),
      option("autumn", "Herfst", "Autumn", "Herbst", "Automne"),
      option("winter", "Winter", "Winter", "Winter", "Hiver")
    ]
  },
  {
    key: "format",
    type: "select",
    translations: translations("name", texts("Formaat", "Format", "Format", "Format")),
    categories: ["photos"],
    filterable: true,
    options: [
      option("original", "Origineel", "Original", "Original", "Original"),
      option("square", "Vierkant bericht", "Square post", "Quadratischer Beitrag", "Publication carrée"),
      option("story", "Story", "Story", "Story", "Story"),
      option("banner", "Banner", "Banner", "Banner", "Bannière")
    ]
  },
  {
    key: "rightsHolder",
    type: "text",
    translations: translations(
      "name",
      texts("Rechthebbende", "Rights holder", "Rechteinhaber", "Titulaire des droits")
    ),
    searchable: true
  },
  {
    key: "licence",
    type: "text",
    translations: translations("name", texts("Licentie", "Licence", "Lizenz", "Licence")),
    filterable: true
  }
] as const

const require = createRequire(import.meta.url)

/** The folder of the photographs, and the folder of the pictures. */
export const photosFolder = () =>
  join(dirname(require.resolve("startbootstrap-business-casual/package.json")), "dist/assets/img")
const picturesFolder = () => join(dirname(require.resolve("@lobehub/fluent-emoji-3d/package.json")), "assets")

/** What a picture of a category is for. */
const purposes: Readonly<Record<string, (names: Texts) => Texts>> = {
  products: ({ de, en, fr, nl }) =>
    texts(
      `Productbeeld voor menukaarten en schapkaartjes: ${nl}.`,
      `Product picture for menus and shelf cards: ${en}.`,
      `Produktbild für Speisekarten und Regalschilder: ${de}.`,
      `Visuel produit pour menus et étiquettes : ${fr}.`
    ),
  campaigns: ({ de, en, fr, nl }) =>
    texts(
      `Campagnebeeld voor posters en sociale media: ${nl}.`,
      `Campaign picture for posters and social media: ${en}.`,
      `Kampagnenbild für Plakate und soziale Medien: ${de}.`,
      `Visuel de campagne pour affiches et réseaux sociaux : ${fr}.`
    ),
  shops: ({ de, en, fr, nl }) =>
    texts(
      `Beeld voor winkelpagina's en instructies: ${nl}.`,
      `Picture for shop pages and instructions: ${en}.`,
      `Bild für Filialseiten und Anleitungen: ${de}.`,
      `Visuel pour pages de magasin et consignes : ${fr}.`
    )
}

/** The first letter large; of a Dutch ij both. */
const capital = (text: string, language: Language) =>
  text.replace(language === "nl" ? /^(?:ij|.)/u : /^./u, (first) => first.toLocaleUpperCase(language))

const capitals = (names: Texts): Texts =>
  texts(capital(names.nl, "nl"), capital(names.en, "en"), capital(names.de, "de"), capital(names.fr, "fr"))

/** The pictures of the table beside this file. */
export const pictures = (): ReadonlyArray<Image> => {
  const folder = picturesFolder()
  const [, ...rows] = readFileSync(new URL("pictures.tsv", import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
  return rows.map((row): Image => {
    const [category, picture, nl, en, de, fr, allergens = "", seasons = ""] = row.split("\t") as [
      string,
      ...Array<string>
    ]
    const names = texts(nl!, en!, de!, fr!)
    const parent = categories.find(({ key }) => key === category)!.parent!
    return {
      path: join(folder, `${picture}.webp`),
      fileName: `${names.en.replaceAll(" ", "-")}.webp`,
      category,
      names: capitals(names),
      descriptions: purposes[parent]!(names),
      metaTags: {
        ...(allergens === "" ? {} : { allergens: allergens.split(",") }),
        ...(seasons === "" ? {} : { seasons: seasons.split(",") }),
        rightsHolder: "Microsoft (Fluent Emoji)",
        licence: "MIT"
      }
    }
  })
}
