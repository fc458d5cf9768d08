import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createAssets, createCategory, createMetaTag } from "../../support/requests/AssetRequests.ts"
import { ask } from "./AssetSearches.ts"
import { expectError, send, unknownUuid } from "../../support/requests/Requests.ts"

type Query = Readonly<Record<string, string>>

/** The searchable content of an asset. */
interface Known {
  readonly uuid: string
  readonly byLanguage: ReadonlyMap<string, ReadonlyArray<string>>
  readonly shared: ReadonlyArray<string>
  readonly categories: ReadonlyArray<string>
  readonly fileSize: number
}

/** Numbers that are the same in every run. */
const seeded = (state: number) => () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const random = seeded(20_261_121)
const upTo = (end: number) => Math.floor(random() * end)
const pick = <A>(values: ReadonlyArray<A>) => values[upTo(values.length)]!
const some = <A>(min: number, max: number, one: () => A) => Array.from({ length: min + upTo(max - min + 1) }, one)

const letter = (letters: string) => letters.charAt(upTo(letters.length))

/** Words that no language reduces to another form. */
const vocabulary = some(60, 60, () => some(2, 3, () => letter("bdfglmprtv") + letter("aiou")).join("") + letter("kx"))
const word = () => pick(vocabulary)

/** The parent of each category. */
const parents: Readonly<Record<string, string | undefined>> = { a: undefined, b: "a", c: "b", d: undefined, e: "d" }
const categoryNames = new Map(Object.keys(parents).map((key) => [key, [word(), word()]]))
const isWithin = (key: string | undefined, wanted: ReadonlyArray<string>): boolean =>
  key !== undefined && (wanted.includes(key) || isWithin(parents[key], wanted))

const plan = () => {
  const locales = pick([["pl"], ["cs"], ["cs", "pl"], ["pl-PL", "cs"]])
  return {
    fileSize: 1 + upTo(50),
    fileWords: some(1, 2, word),
    joint: pick(["_", "-", " ", "."]),
    texts: locales.map((locale) => ({ locale, name: some(1, 3, word), description: some(0, 4, word) })),
    categories: [...new Set(some(0, 2, () => pick(Object.keys(parents))))],
    tag: some(0, 1, word)
  }
}
const plans = some(300, 300, plan)

const fieldsOf = ({ categories, fileSize, fileWords, joint, tag, texts }: ReturnType<typeof plan>) => ({
  fileName: `${fileWords.join(joint)}.dat`,
  fileSize,
  fields: {
    categories,
    translations: texts.map(({ description, locale, name }) => ({
      locale,
      name: name.join(" "),
      description: description.join(", ") || null
    })),
    metaTags: tag.map((value) => ({ key: "mood", value }))
  }
})

const knownOf = ({ categories, fileSize, fileWords, tag, texts }: ReturnType<typeof plan>, uuid: string): Known => {
  const byLanguage = new Map(
    texts.map(({ description, locale, name }) => [locale.slice(0, 2), [...name, ...description]])
  )
  const shared = [...fileWords, ...tag, ...categories.flatMap((key) => categoryNames.get(key)!)]
  return { uuid, byLanguage, shared, categories, fileSize }
}

const makeAll = Effect.gen(function* () {
  const uuids = new Map<string, string>()
  yield* createMetaTag({ key: "mood", type: "text", searchable: true })
  for (const [key, parent] of Object.entries(parents)) {
    const [pl, cs] = categoryNames.get(key)!
    const translations = [
      { locale: "pl", name: pl },
      { locale: "cs", name: cs }
    ]
    const parentUuid = parent === undefined ? null : uuids.get(parent)
    uuids.set(key, yield* createCategory({ key, translations, parentUuid }))
  }
  const created = yield* createAssets(plans.map(fieldsOf))
  return { uuids, assets: plans.map((plan, index) => knownOf(plan, created[index]!)) }
})

const hasWords = ({ shared, byLanguage }: Known, locale: string | undefined, search: ReadonlyArray<string>) => {
  const own = locale === undefined ? undefined : byLanguage.get(locale)
  const words = [...shared, ...(own ?? [...byLanguage.values()].flat())]
  return search.every((sought, index) =>
    index === search.length - 1 ? words.some((candidate) => candidate.startsWith(sought)) : words.includes(sought)
  )
}

layer(TestServer.layer(), { excludeTestServices: true })("Asset search at scale", (it) => {
  it.effect("a search finds the same assets as a naive scan, with an exact total and disjoint pages", () =>
    Effect.gen(function* () {
      const { assets, uuids } = yield* makeAll
      let compared = 0
      for (let round = 0; round < 120; round++) {
        const search = some(1, 3, word)
        search.push(search.pop()!.slice(0, 2 + upTo(6)))
        const locale = pick(["pl", "cs", undefined])
        const wanted = round % 3 === 0 ? some(1, 2, () => pick(Object.keys(parents))) : undefined
        const below = round % 4 === 0 ? upTo(50) : undefined
        const query: Query = {
          search: search.join(pick([" ", ", ", "_"])),
          ...(locale && { locale }),
          ...(wanted && { category: wanted.map((key) => pick([key, uuids.get(key)!])).join(",") }),
          ...(below && { filter: `fileSize:lt:${below}` }),
          ...pick([{}, { sortBy: "name" }, { sortBy: "fileSize", sortOrder: "asc" }, { sortBy: "relevance" }])
        }
        const expected = assets
          .filter((asset) => hasWords(asset, locale, search))
          .filter(({ categories }) => wanted === undefined || categories.some((key) => isWithin(key, wanted)))
          .filter(({ fileSize }) => below === undefined || fileSize < below)
          .map(({ uuid }) => uuid)
        // Without an exact match the search falls back to similar words.
        if (expected.length === 0) continue
        compared++
        const found: Array<string> = []
        for (let page = 1; found.length < expected.length; page++) {
          const { body } = yield* ask({ ...query, limit: "7", page: String(page) })
          assert.strictEqual(body.pagination.total, expected.length, JSON.stringify(query))
          assert.isNotEmpty(body.data, JSON.stringify(query))
          found.push(...body.data.map(({ uuid }: { readonly uuid: string }) => uuid))
        }
        assert.sameMembers(found, expected, JSON.stringify(query))
      }
      assert.isAbove(compared, 60)
      for (const key of Object.keys(parents)) {
        const expected = assets.filter(({ categories }) => categories.some((own) => isWithin(own, [key])))
        const { body } = yield* ask({ category: key, limit: "500", sortBy: "fileSize" })
        assert.sameMembers(
          body.data.map(({ uuid }: Known) => uuid),
          expected.map(({ uuid }) => uuid)
        )
        assert.strictEqual(body.pagination.total, expected.length)
      }
    })
  )

  it.effect(
    "category parameters accept keys and uuids, comma-separated or repeated, and all unknown ones are listed",
    () =>
      Effect.gen(function* () {
        const totalOf = (query: string) =>
          Effect.map(send("GET", `/v1/assets/search?${query}`), ({ body }) => body.pagination.total)
        const both = yield* totalOf("category=b,e")
        assert.isAbove(both, Math.max(yield* totalOf("category=b"), yield* totalOf("category=e")))
        for (const query of ["category=b&category=e", "category=b,%20e", "category=b,e,b", "category=c,b&category=e"]) {
          assert.strictEqual(yield* totalOf(query), both, query)
        }
        for (const [query, invalid] of [
          ["category=none", ["none"]],
          [`category=a,none&category=${unknownUuid},A`, ["none", unknownUuid, "A"]],
          ["category=", [""]],
          ["category=a,", [""]],
          ["category=a%00", ["a\0"]],
          ["category=none&search=", ["none"]]
        ] as const) {
          for (const path of ["/v1/assets/search", "/v1/assets/meta-tags"]) {
            if (path.endsWith("tags") && query.includes("search")) continue
            const body = expectError(
              yield* send("GET", `${path}?${query}`),
              400,
              "InvalidAssetCategoriesError",
              `${path}?${query}`
            )
            assert.deepStrictEqual(body.invalid, invalid)
          }
        }
        const many = Array.from({ length: 51 }, (_, index) => `c${index}`).join(",")
        expectError(yield* send("GET", `/v1/assets/search?category=${many}`), 400, "InvalidRequestError")
      })
  )
})
