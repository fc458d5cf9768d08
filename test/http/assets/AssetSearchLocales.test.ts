import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, createCategory, createMetaTag } from "../../support/requests/AssetRequests.ts"
import { send } from "../../support/requests/Requests.ts"

type Query = Readonly<Record<string, string>>
type Names = Readonly<Record<string, string>>
const createTranslated = (translations: Names, fields: object = {}) =>
  createAsset(
    { ...fields, translations: Object.entries(translations).map(([locale, name]) => ({ locale, name })) },
    "f.bin"
  )
const ask = (query: Query) =>
  Effect.map(
    send("GET", `/v1/assets/search?${new URLSearchParams({ limit: "500", ...query }).toString()}`),
    ({ body }) => body
  )

/** The name of the first translation of each asset found. */
const names = (query: Query) =>
  Effect.map(ask(query), ({ data }) =>
    data.map(
      (asset: { readonly translations: ReadonlyArray<{ readonly name: string }> }) => asset.translations[0]!.name
    )
  )
const finds = (locale: string, expected: Readonly<Record<string, ReadonlyArray<string>>>) =>
  Effect.forEach(Object.entries(expected), ([search, found]) =>
    Effect.map(names({ search, locale }), (actual) => assert.sameMembers(actual, [...found], `${locale} ${search}`))
  )

layer(TestServer.layer(), { excludeTestServices: true })("Asset search in a locale", (it) => {
  it.effect("a search in a locale uses the translation of that language, or all others if there is none", () =>
    Effect.gen(function* () {
      yield* createTranslated({ "nl-NL": "Fiets", en: "Bicycle" })
      yield* createTranslated({ de: "Fahrrad", fr: "Vélo" })
      for (const locale of ["nl", "nl-NL", "NL_nl", "nl-BE"]) {
        yield* finds(locale, { fiets: ["Fiets"], bicycle: [], fahrrad: ["Fahrrad"], velo: ["Fahrrad"] })
      }
      yield* finds("en-GB", { fiets: [], bicycle: ["Bicycle"] })
      yield* finds("es", { fiets: ["Bicycle"], bicycle: ["Bicycle"], velo: ["Fahrrad"] })
      assert.sameMembers(yield* names({ search: "fiets" }), ["Bicycle"])
      assert.sameMembers(yield* names({ search: "fietz", locale: "nl" }), ["Fiets"])
      assert.sameMembers(yield* names({ search: "bicycel", locale: "nl" }), [])
    })
  )

  it.effect("a search in a regional locale falls back to the language, and the other way round", () =>
    Effect.gen(function* () {
      yield* createTranslated({ nl: "Koek", "de-CH": "Guetzli", "nl-BE": "Speculaas" })
      for (const locale of ["nl", "nl-NL", "nl-BE"]) {
        yield* finds(locale, { koek: [locale === "nl-BE" ? "Speculaas" : "Koek"], guetzli: [] })
        yield* finds(locale, { speculaas: [locale === "nl-BE" ? "Speculaas" : "Koek"] })
      }
      yield* finds("de", { guetzli: ["Guetzli"], koek: [] })
    })
  )

  it.effect("the translation in the requested locale comes first, the others are sorted by locale", () =>
    Effect.gen(function* () {
      const uuid = yield* createTranslated({ de: "Ordnung", en: "Order", nl: "Orde", "nl-BE": "Ordre", fr: "Ordre" })
      const order = (query: Query) =>
        Effect.map(ask({ filter: `uuid:equals:${uuid}`, ...query }), ({ data }) =>
          data[0].translations.map(({ locale }: { readonly locale: string }) => locale).join(" ")
        )
      for (const [locale, expected] of [
        [undefined, "de en fr nl nl-BE"],
        ["fr", "fr de en nl nl-BE"],
        ["fr-CA", "fr de en nl nl-BE"],
        ["nl", "nl de en fr nl-BE"],
        ["nl-BE", "nl-BE de en fr nl"],
        ["nl-NL", "nl de en fr nl-BE"],
        ["pt", "de en fr nl nl-BE"]
      ] as const) {
        const query = locale === undefined ? {} : { locale }
        for (const search of [{}, { search: "ord" }, { search: "" }]) {
          assert.strictEqual(yield* order({ ...query, ...search }), expected, locale)
        }
      }
    })
  )

  it.effect("options of meta tags are labelled in the requested locale, as for one asset", () =>
    Effect.gen(function* () {
      const translations = [
        { locale: "en", label: "Winter sale" },
        { locale: "nl", label: "Winteruitverkoop" }
      ]
      yield* createMetaTag({ key: "campaign", type: "select", options: [{ key: "w-1", translations }, { key: "s-1" }] })
      const metaTags = [{ key: "campaign", value: "w-1" }]
      const uuid = yield* createTranslated({ en: "Labelled poster", nl: "Affiche met label" }, { metaTags })
      const labels = (query: Query) =>
        Effect.map(ask({ filter: `uuid:equals:${uuid}`, ...query }), ({ data }) => data[0].metaTags[0].options[0].label)
      for (const [locale, search, expected] of [
        ["nl", "affiche", "Winteruitverkoop"],
        ["nl-BE", "affiche", "Winteruitverkoop"],
        ["en", "poster", "Winter sale"],
        ["fr", "poster", "Winter sale"]
      ] as const) {
        const one = yield* send("GET", `/v1/assets/${uuid}/meta-tags?locale=${locale}`)
        assert.strictEqual(one.body.data[0].options[0].label, expected, locale)
        for (const query of [{}, { search }]) {
          assert.strictEqual(yield* labels({ locale, include: "metaTags", ...query }), expected, locale)
          assert.strictEqual(
            yield* labels({ locale, include: "metaTags", fields: "metaTags.options.label", ...query }),
            expected,
            locale
          )
        }
      }
      assert.strictEqual(yield* labels({ include: "metaTags" }), "Winter sale")
    })
  )

  it.effect("sorting by name uses the names in the requested locale", () =>
    Effect.gen(function* () {
      yield* createCategory({ key: "sorted" })
      const fields = { categories: ["sorted"] }
      yield* createTranslated({ en: "Sorted C", nl: "Gesorteerd 1" }, fields)
      yield* createTranslated({ en: "Sorted A", nl: "Gesorteerd 3" }, fields)
      yield* createTranslated({ en: "Sorted B" }, fields)
      const sorted = (query: Query) => names({ category: "sorted", sortBy: "name", sortOrder: "asc", ...query })
      assert.deepStrictEqual(yield* sorted({}), ["Sorted A", "Sorted B", "Sorted C"])
      assert.deepStrictEqual(yield* sorted({ locale: "en" }), ["Sorted A", "Sorted B", "Sorted C"])
      const dutch = ["Gesorteerd 1", "Gesorteerd 3", "Sorted B"]
      assert.deepStrictEqual(yield* sorted({ locale: "nl-NL" }), dutch)
      assert.deepStrictEqual(yield* sorted({ locale: "nl", sortOrder: "desc" }), dutch.toReversed())
      const everywhere = yield* names({ sortBy: "name", sortOrder: "asc", locale: "nl" })
      assert.deepStrictEqual(everywhere, everywhere.toSorted(new Intl.Collator("und").compare))
    })
  )

  it.effect("a search in a locale finds the word forms of that language", () =>
    Effect.gen(function* () {
      yield* createTranslated({ nl: "Katten en honden" })
      yield* createTranslated({ de: "Häuser am See" })
      yield* createTranslated({ en: "Cities of the world", nl: "Steden" })
      yield* finds("nl", { kat: ["Katten en honden"], "de honden": ["Katten en honden"], katten: ["Katten en honden"] })
      yield* finds("de", { haus: ["Häuser am See"], "ein haus": ["Häuser am See"], häuser: ["Häuser am See"] })
      yield* finds("en", { city: ["Cities of the world"], "the city": ["Cities of the world"] })
    })
  )

  it.effect("an invalid locale is reported before an unknown category", () =>
    Effect.gen(function* () {
      for (const locale of ["xx", "english", "nl-XX", ""]) {
        const body = yield* ask({ locale, category: "none" })
        assert.deepStrictEqual([body._tag, body.locale], ["InvalidLocaleError", locale])
      }
    })
  )
})
