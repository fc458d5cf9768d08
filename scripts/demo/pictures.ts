import { Console, Effect, Option, Stream } from "effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import * as LocalFiles from "../../src/cli/upload/LocalFiles.ts"
import * as Progress from "../../src/cli/Progress.ts"
import type { Source } from "../../src/cli/upload/FileUpload.ts"
import * as UploadAssets from "../../src/cli/upload/UploadAssets.ts"
import * as UploadJournal from "../../src/cli/upload/UploadJournal.ts"
import * as UploadReport from "../../src/cli/upload/UploadReport.ts"
import { Client } from "../../src/client/Client.ts"
import type { AssetCategoryId } from "../../src/domain/assets/AssetCategory.ts"
import type { AssetId } from "../../src/domain/assets/Asset.ts"
import { largestBranches } from "./places.ts"
import { capitals, combined, table, type Texts, texts, translated } from "./texts.ts"

/** How many branches show pictures. */
const decorated = 50

/** The categories of assets, parents first; the last column is the parent. */
const categories = table(`
  products | Producten | Products | Produkte | Produits
  breads | Brood | Breads | Brot | Pains | products
  pastries | Gebak en zoet | Pastries | Gebäck und Süßes | Pâtisseries | products
  snacks | Hartig | Snacks | Herzhaftes | Salé | products
  drinks | Dranken | Drinks | Getränke | Boissons | products
  ingredients | Ingrediënten | Ingredients | Zutaten | Ingrédients | products
  campaigns | Campagnes | Campaigns | Kampagnen | Campagnes
  seasons | Seizoenen | Seasons | Jahreszeiten | Saisons | campaigns
  celebrations | Feesten | Celebrations | Feste | Fêtes | campaigns
  shops | Winkels | Shops | Filialen | Magasins
  cities | Steden | Cities | Städte | Villes | shops
  delivery | Bezorging | Delivery | Lieferung | Livraison | shops
  shopfloor | Winkelvloer | Shop floor | Verkaufsraum | Espace de vente | shops
`)

const multiSelect = (key: string, names: Texts, categories: ReadonlyArray<string>, options: string) => ({
  key,
  type: "multiSelect" as const,
  translations: translated({ name: names }),
  categories,
  filterable: true,
  searchable: true,
  options: table(options).map(({ key, names: label }) => ({ key, translations: translated({ label }) }))
})

const allergens = multiSelect(
  "allergens",
  texts("Allergenen", "Allergens", "Allergene", "Allergènes"),
  ["products"],
  `gluten | Gluten | Gluten | Gluten | Gluten
   milk | Melk | Milk | Milch | Lait
   egg | Ei | Egg | Ei | Œuf
   nuts | Noten | Nuts | Schalenfrüchte | Fruits à coque
   peanuts | Pinda's | Peanuts | Erdnüsse | Arachides
   soya | Soja | Soya | Soja | Soja
   fish | Vis | Fish | Fisch | Poisson
   crustaceans | Schaaldieren | Crustaceans | Krebstiere | Crustacés`
)
const seasons = multiSelect(
  "seasons",
  texts("Seizoen", "Season", "Jahreszeit", "Saison"),
  ["products", "campaigns"],
  `spring | Lente | Spring | Frühling | Printemps
   summer | Zomer | Summer | Sommer | Été
   autumn | Herfst | Autumn | Herbst | Automne
   winter | Winter | Winter | Winter | Hiver`
)
const require = createRequire(import.meta.url)
const folder = join(dirname(require.resolve("@lobehub/fluent-emoji-3d/package.json")), "assets")

/**
 * Pictures of food, seasons, cities and shops from Fluent Emoji (Microsoft, MIT). Their names follow the Unicode CLDR
 * (Unicode, Inc., Unicode License v3); allergens and seasons are invented.
 */
export const pictures = readFileSync(new URL("pictures.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((row) => {
    const [category, file, nl, en, de, fr, ...tags] = row.split("\t")
    const [allergens = [], seasons = []] = tags.map((list) => (list === "" ? [] : list.split(",")))
    return {
      category: category!,
      path: join(folder, `${file}.webp`),
      names: texts(nl!, en!, de!, fr!),
      metaTags: { allergens, seasons }
    }
  })
type Picture = (typeof pictures)[number]

const described = texts("Beeld van Korenbloem", "Korenbloem picture", "Bild von Korenbloem", "Visuel de Korenbloem")

const assetOf = ({ category, metaTags, names }: Picture): Source["asset"] => ({
  categories: [category],
  translations: translated({
    name: capitals(names),
    description: combined((language) => `${described[language]}: ${names[language]}.`)
  }),
  metaTags: Object.entries(metaTags)
    .filter(([, value]) => value.length > 0)
    .map(([key, value]) => ({ key, value }))
})

const addDefinitions = Effect.gen(function* () {
  const { assetCategories, metaTags } = yield* Client
  const uuids = new Map<string | undefined, AssetCategoryId>()
  for (const [position, { key, names, rest }] of categories.entries()) {
    const parentUuid = uuids.get(rest[0])
    const payload = { key, position, translations: translated({ name: names }) }
    const { uuid } = yield* assetCategories.create({ payload: parentUuid ? { ...payload, parentUuid } : payload })
    uuids.set(key, uuid)
  }
  for (const [position, definition] of [allergens, seasons].entries()) {
    yield* metaTags.create({ payload: { ...definition, position } })
  }
})

/** Uploads the pictures and returns the asset of each path. */
const upload = Effect.gen(function* () {
  const { files } = yield* LocalFiles.find(pictures.map(({ path }) => path))
  const byPath = new Map(files.map((file) => [file.path, file]))
  const summary = UploadAssets.emptySummary()
  const uploadAll = yield* UploadAssets.uploadAll({
    concurrency: 8,
    force: false,
    keepDuplicates: false,
    journal: UploadJournal.none,
    summary
  })
  const sources = pictures.map((picture) => ({
    file: { ...byPath.get(picture.path)!, name: `${picture.names.en.replaceAll(" ", "-")}.webp` },
    asset: assetOf(picture)
  }))
  const { seconds, value } = yield* Progress.timed(Stream.runCollect(uploadAll(sources)))
  yield* Console.log(UploadReport.report({ ...summary, skipped: 0 }, seconds))
  return new Map(
    value.flatMap(([{ file }, result]) => (result.outcome === "refused" ? [] : [[file.path, result.asset] as const]))
  )
})

/** Shows a logo and some of the pictures at a branch, another choice for each. */
const decorate = Effect.fnUntraced(function* (index: number, identifier: string, assets: ReadonlyMap<string, AssetId>) {
  const { locations } = yield* Client
  const filter = [{ field: "identifier", operator: "equals", value: identifier }] as const
  const { data } = yield* locations.list({ query: { limit: 1, filter } })
  const location = Option.fromUndefinedOr(data[0])
  if (Option.isNone(location)) return
  const shown = pictures.filter(({ category }, number) => category === "shopfloor" && (number + index) % 12 === 0)
  const items = shown.map(({ names, path }) => ({
    assetUuid: assets.get(path)!,
    role: "interior" as const,
    labels: translated({ label: capitals(names) }).map((label) => ({ key: "caption", ...label }))
  }))
  yield* locations.updateMedia({
    params: { uuid: location.value.uuid },
    payload: { logo: { assetUuid: assets.get(pictures[0]!.path)! }, items }
  })
})

/** The assets of the demo, by the English name of the picture; uploaded unless there are assets already. */
export const fillAssets = Effect.gen(function* () {
  const client = yield* Client
  const { pagination } = yield* client.assets.list({ query: { limit: 1 } })
  if (pagination.total === 0) {
    yield* addDefinitions
    const assets = yield* upload
    const shops = largestBranches(decorated).entries()
    const decorating = Effect.forEach(shops, ([index, shop]) => decorate(index, shop, assets), { concurrency: 8 })
    const { seconds } = yield* Progress.timed(decorating)
    yield* Console.log(`media: the ${decorated} largest locations show pictures (${seconds.toFixed(1)} s)`)
  }
  const { data } = yield* client.assets.list({ query: { limit: 500 } })
  const english = data.flatMap(({ translations, uuid }) =>
    translations.filter(({ locale }) => locale === "en").map(({ name }) => [name.toLowerCase(), uuid] as const)
  )
  return new Map<string, string>(english)
})
