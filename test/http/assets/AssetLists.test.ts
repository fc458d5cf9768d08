import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Asset, extraMembers } from "../../../src/domain/assets/Asset.ts"
import { filterableOf } from "../../../src/domain/query/FilterFields.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { type Answered, valuesAt } from "../../support/filters/FilterOracle.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAssets, createCategory, createMetaTag } from "../../support/requests/AssetRequests.ts"
import { expectError, send } from "../../support/requests/Requests.ts"

const total = 120
const words = ["a", "B", "b", "É", "e", "z", "Ä", "a b", "a-b", "10", "9", "ß", "ss", "ø", "文", "İ", "_", "A"]
const extensions = ["pdf", "png", "JPG", "mp4"]
const pick = <A>(values: ReadonlyArray<A>, index: number) => values[index % values.length]!
const quoted = (value: unknown) => `"${String(value).replaceAll(/[\\"]/g, "\\$&")}"`

/** Assets with many equal values, and every extra on some of them. */
const seed = Effect.gen(function* () {
  const { pooled } = yield* Sql
  yield* createCategory({ key: "photos" })
  yield* createCategory({ key: "logos" })
  yield* createMetaTag({
    key: "season",
    type: "select",
    options: [{ key: "spring", translations: [{ locale: "en", label: 'Spring, "early"' }] }, { key: "autumn" }]
  })
  const uuids = yield* createAssets(
    Array.from({ length: total }, (_, index) => ({
      fileName: `${pick(words, index * 5)}.${pick(extensions, index)}`,
      fileSize: 1000 * (index % 7) + 1,
      fields: {
        translations: [
          { locale: pick(["en", "nl-NL", "de"], index), name: pick(words, index) },
          { locale: "pt", name: `Nome, "${index % 9}"`, ...(index % 2 === 0 ? { description: "Um\ndois" } : {}) }
        ],
        categories: [["photos"], ["logos", "photos"], []][index % 3],
        ...(index % 4 === 0 ? { metaTags: [{ key: "season", value: pick(["spring", "autumn"], index / 4) }] } : {}),
        ...(index % 5 === 0 ? { validFrom: "2026-01-31T09:30:00.000Z", validUntil: "2027-01-31T09:30:00.000Z" } : {}),
        ...(index % 6 === 0 ? { focalPoint: { x: 0.25, y: (index % 4) / 4 } } : {})
      }
    }))
  )
  yield* pooled`update assets set created_at = date_trunc('second', now()) - interval '1 second' * ((place - 1) % 40),
    edited_at = now() + interval '1 second' * ((place - 1) % 5)
    from unnest(${uuids}::uuid[]) with ordinality listed (listed_uuid, place) where uuid = listed_uuid`
  // Overwrite the image facts once no thumbnail job is pending.
  const pending = pooled<{ readonly count: number }>`select count(*)::int from files where processing = 'pending'`
  yield* Effect.repeat(Effect.delay(pending, "50 millis"), { until: ([row]) => row!.count === 0 })
  yield* pooled`update files set width = size / 10, height = 600, duration = case when size > 3000 then 1.5 end,
    sha256 = md5(uuid::text), processing = case when size > 3000 then 'ready' else 'failed' end`
})

const get = (query: string) => send("GET", `/v1/assets?${query}`)

/** Every page of a list, one after the other. */
const walk = Effect.fnUntraced(function* (query: string, limit: number, path = "/v1/assets") {
  const rows: Array<Answered> = []
  for (let page = 1; ; page++) {
    const { body } = yield* send("GET", `${path}?${query}&limit=${limit}&page=${page}`)
    const { pagination } = body
    assert.strictEqual(body.data.length, Math.max(0, Math.min(limit, pagination.total - rows.length)))
    assert.strictEqual(pagination.pageCount, Math.ceil(pagination.total / limit))
    rows.push(...body.data)
    if (page >= pagination.pageCount) return rows
  }
})
const everything = walk(`include=${extraMembers.join(",")}`, 500)
const uuidsOf = (rows: ReadonlyArray<{ readonly uuid: string }>) => rows.map(({ uuid }) => uuid)

const text = new Intl.Collator("und").compare
const natural = (a: unknown, b: unknown) => (a === b ? 0 : (a as number) < (b as number) ? -1 : 1)
type Sort = readonly [value: (asset: Answered) => unknown, compare: (a: never, b: never) => number]
const sorts: Readonly<Record<string, Sort>> = {
  name: [(asset) => valuesAt(asset, ["translations", "name"])[0], text],
  fileNameOriginal: [(asset) => asset["fileNameOriginal"], text],
  fileExtension: [(asset) => asset["fileExtension"], text],
  fileSize: [(asset) => asset["fileSize"], natural],
  createdAt: [(asset) => asset["createdAt"], natural],
  editedAt: [(asset) => asset["editedAt"], natural]
}

layer(TestServer.layer(), { excludeTestServices: true })("Lists of assets", (it) => {
  it.effect("the asset list returns the exact total and the newest assets first", () =>
    Effect.gen(function* () {
      yield* seed
      const { data, pagination } = (yield* get("")).body
      assert.deepStrictEqual(pagination, { limit: 25, page: 1, total, pageCount: 5 })
      assert.deepStrictEqual(data, (yield* get("sortBy=createdAt&sortOrder=DESC")).body.data)
      assert.deepStrictEqual((yield* get("page=6")).body, {
        _tag: "Success",
        data: [],
        pagination: { ...pagination, page: 6 }
      })
      for (const query of [
        "sortBy=relevance",
        "sortBy=translations.name",
        "search=a",
        "locale=nl",
        "category=photos"
      ]) {
        assert.strictEqual((yield* get(query)).status, 400, query)
      }
    })
  )

  const cases = Object.keys(sorts).flatMap((field) => ["asc", "desc"].map((order) => ({ field, order })))
  it.effect.each(cases)(
    "the asset list sorted by $field $order breaks ties by uuid, and its pages are slices of the whole",
    ({ field, order }) =>
      Effect.gen(function* () {
        const [valueOf, compare] = sorts[field]!
        const sign = order === "asc" ? 1 : -1
        const query = `sortBy=${field}&sortOrder=${order}`
        const whole = yield* walk(query, 500)
        assert.strictEqual(new Set(uuidsOf(whole)).size, total)
        const naive = whole.toSorted(
          (a, b) => sign * (compare(valueOf(a) as never, valueOf(b) as never) || natural(a.uuid, b.uuid))
        )
        assert.deepStrictEqual(whole.map(valueOf), naive.map(valueOf))
        assert.deepStrictEqual(uuidsOf(whole), uuidsOf(naive))
        for (const path of ["/v1/assets", "/v1/assets/search"]) {
          assert.deepStrictEqual(uuidsOf(yield* walk(query, 17, path)), uuidsOf(whole))
          const kept = yield* walk(`${query}&filter=fileSize:gt:2000`, 11, path)
          assert.deepStrictEqual(uuidsOf(kept), uuidsOf(whole.filter(({ fileSize }) => Number(fileSize) > 2000)))
        }
      })
  )

  it.effect("a filter on any field with any allowed operator finds exactly the matching assets", () =>
    Effect.gen(function* () {
      const all = yield* everything
      for (const { kind, path, segments } of filterableOf(Asset)) {
        const having = all.filter((asset) => valuesAt(asset, segments).length > 0)
        assert.isNotEmpty(having, path)
        const [value] = valuesAt(pick(having, 7), segments)
        const holds: Readonly<Record<string, (actual: string | number | boolean) => boolean>> =
          kind === "number" || kind === "date"
            ? {
                equals: (actual) => actual === value,
                gt: (actual) => actual > value!,
                gte: (actual) => actual >= value!,
                lt: (actual) => actual < value!,
                lte: (actual) => actual <= value!
              }
            : {
                equals: (actual) => actual === value,
                contains: (actual) => String(actual).toLowerCase().includes(String(value).toLowerCase()),
                startsWith: (actual) => String(actual).toLowerCase().startsWith(String(value).toLowerCase()),
                endsWith: (actual) => String(actual).toLowerCase().endsWith(String(value).toLowerCase())
              }
        for (const [operator, isHit] of Object.entries(holds)) {
          const filter = encodeURIComponent(`${path}:${operator}:${quoted(value)}`)
          const { body, status, text: answer } = yield* get(`limit=500&sortOrder=asc&filter=${filter}`)
          assert.strictEqual(status, 200, `${path} ${operator} ${answer}`)
          const expected = all.filter((asset) => valuesAt(asset, segments).some(isHit))
          assert.sameMembers(uuidsOf(body.data), uuidsOf(expected), `${path} ${operator} ${value}`)
          assert.strictEqual(body.pagination.total, expected.length)
        }
      }
    })
  )

  it.effect("asset filter conditions are combined with and, and invalid conditions are rejected with a code", () =>
    Effect.gen(function* () {
      const all = yield* everything
      const { body } = yield* get("limit=500&filter=CATEGORIES:equals:logos,fileExtension:equals:png,fileSize:lte:2001")
      const expected = all.filter(
        (asset) =>
          asset["fileExtension"] === "png" &&
          Number(asset["fileSize"]) <= 2001 &&
          valuesAt(asset, ["categories"]).includes("logos")
      )
      assert.isNotEmpty(expected)
      assert.sameMembers(uuidsOf(body.data), uuidsOf(expected))
      for (const [filter, code] of [
        ["name:equals:a", "unknownField"],
        ["fileUuid:equals:a", "unknownField"],
        ["metaTags.value:equals:spring", "unknownField"],
        ["fileSize:contains:1", "operatorNotAllowed"],
        ["processing:equals:done", "invalidValue"],
        ["width:equals:wide", "invalidValue"]
      ] as const) {
        const rejected = yield* get(`filter=${filter}`)
        expectError(rejected, 400, "InvalidFilterError")
        assert.strictEqual(rejected.body.code, code)
      }
    })
  )
})
