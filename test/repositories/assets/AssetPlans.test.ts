import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Statement } from "effect/sql"
import { createHash } from "node:crypto"
import { Asset, sortable } from "../../../src/domain/assets/Asset.ts"
import { parse } from "../../../src/domain/query/Filter.ts"
import { fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { Assets } from "../../../src/repositories/assets/Assets.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { explained, isScanOf, keptPlans, lastSent, nodes, type Plan, wholeTable } from "../../sql/Explained.ts"
import { alike, find, limit, rows, services } from "./ManyAssets.ts"

const conditions = (filter: string) => Result.getOrThrow(parse(fieldsOf(Asset), filter, ["metaTags"]))
const numberOf = { first: 1, middle: rows / limit / 2, last: rows / limit }
const lists = sortable.flatMap((sortBy) =>
  (["asc", "desc"] as const).flatMap((sortOrder) =>
    (["first", "middle", "last"] as const).map((page) => ({ sortBy, sortOrder, page }))
  )
)
const codeOf7 = createHash("md5").update("c7").digest("hex")
/** One of the rare words. */
const wordOf = (index: number) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.map(
      pooled.unsafe<{ readonly word: string }>("select 'w' || left(md5('w' || $1::int), 8) as word", [index]),
      ([row]) => row!.word
    )
  )

/** The numbers of asset rows that the nodes of a plan read. */
const assetsRead = (plan: Plan) =>
  nodes(plan)
    .filter((node) => node["Relation Name"] === "assets" || node["Index Name"]?.startsWith("assets_") === true)
    .map((node) => node["Actual Rows"] * node["Actual Loops"])

layer(services, { excludeTestServices: true })("query plans with many assets", (it) => {
  it.effect.each(lists)("the $page page by $sortBy $sortOrder is read from an index", ({ page, sortBy, sortOrder }) =>
    Effect.gen(function* () {
      const assets = yield* Assets
      // The second read has the cached total and starts from the nearer end.
      yield* assets.list({ sortBy, sortOrder, limit })
      const plan = yield* explained(assets.list({ sortBy, sortOrder, limit, page: numberOf[page] }))
      assert.deepStrictEqual(wholeTable(plan, "assets"), [])
      const indexes = nodes(plan).map((node) => node["Index Name"] ?? "")
      assert.isTrue(indexes.some((name) => name.startsWith("assets_") && name !== "assets_pkey"))
    })
  )

  it.effect.each([{}, { locale: "nl" }, { locale: "en-GB" }, { locale: "de" }])(
    "a search with %o reads an index and only its matches",
    (request) =>
      Effect.gen(function* () {
        const search = yield* wordOf(7)
        const { pagination } = yield* find({ search, ...request })
        assert.strictEqual(pagination.total, alike)
        for (const sought of [search, `picture ${search}`, search.slice(0, 8)]) {
          const plan = nodes(yield* explained(find({ search: sought, ...request }), { run: true }))
          assert.include(
            plan.map((node) => node["Index Name"]),
            "asset_texts_document"
          )
          assert.deepStrictEqual([...plan.filter(isScanOf("assets")), ...plan.filter(isScanOf("asset_texts"))], [])
          assert.isTrue(
            plan.every((node) => node["Actual Rows"] * node["Actual Loops"] <= 4 * alike),
            sought
          )
        }
      })
  )

  it.effect("a misspelt word and its correction are looked up in indexes", () =>
    Effect.gen(function* () {
      const word = yield* wordOf(11)
      const search = `${word.slice(0, 3)}${word[4]}${word[3]}${word.slice(5)}`
      const { pagination } = yield* find({ search })
      assert.isAtLeast(pagination.total!, alike)
      const plan = nodes(yield* explained(find({ search })))
      assert.include(
        plan.map((node) => node["Index Name"]),
        "asset_texts_document"
      )
    })
  )

  it.effect("a search parses its words once, regardless of the number of matches", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      assert.strictEqual((yield* find({ search: "picture" })).pagination.total, rows)
      const [text, values] = yield* lastSent(find({ search: "picture" }))
      const calls = yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* pooled.unsafe("set local track_functions = 'pl'")
          yield* pooled.unsafe(text, values).unprepared
          const [row] = yield* pooled.unsafe<{ readonly calls: number }>(
            "select calls::int from pg_stat_xact_user_functions where funcname = 'waypost_asset_query'"
          )
          return row!.calls
        })
      )
      // The planner may also call the function for its estimate.
      assert.isAtMost(calls, 5)
    })
  )

  it.effect("a category with few assets is read from its index", () =>
    Effect.gen(function* () {
      const request = { category: ["few"], sortBy: "createdAt" } as const
      const { pagination } = yield* find(request)
      assert.strictEqual(pagination.total, 40)
      const plan = yield* explained(find(request))
      assert.deepStrictEqual(nodes(plan).filter(isScanOf("assets")), [])
    })
  )

  it.effect.each([
    ["fileNameOriginal:contains:0f3a", "assets_trigrams"],
    ["fileNameOriginal:startsWith:file0f3", "assets_trigrams"],
    ["fileNameOriginal:equals:x.pdf", "assets_file_name_original"],
    ["createdAt:equals:2024-01-03", "assets_created_at"],
    ["metaTags.number:equals:7", "asset_meta_tags_value"],
    [`metaTags.code:equals:c${codeOf7}`, "asset_meta_tags_value"]
  ] as const)("the filter %s uses the index %s", ([filter, index]) =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const plan = yield* explained(assets.list({ filter: conditions(filter) }))
      assert.include(
        nodes(plan).map((node) => node["Index Name"]),
        index
      )
    })
  )

  it.effect.each([
    "fileNameOriginal:contains:0f3a",
    "fileNameOriginal:startsWith:file0f3",
    "translations.name:contains:picture w0f3"
  ])("the filter %s is planned once, and not for each request", (filter) =>
    Effect.gen(function* () {
      const assets = yield* Assets
      assert.isAtLeast(yield* keptPlans(assets.list({ filter: conditions(filter), limit })), 6)
    })
  )

  it.effect("a filter on meta tags reads the definitions once, however many conditions it has", () =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const sent: Array<string> = []
      const conditionsOnOne = Array.from({ length: 20 }, (_, index) => `metaTags.number:gt:${index}`).join(",")
      yield* Effect.provideService(
        assets.list({ filter: conditions(conditionsOnOne) }),
        Statement.CurrentTransformer,
        (statement) =>
          Effect.sync(() => {
            sent.push(statement.compile()[0])
            return statement
          })
      )
      assert.deepStrictEqual(
        sent.map((text) => text.includes("from meta_tag_definitions d order by")),
        [true, false]
      )
    })
  )

  it.effect.each([{}, { page: 80 }, { locale: "nl" }, { category: ["photos"] }])(
    "a search by relevance with %o reads only the assets of its page",
    (request) =>
      Effect.gen(function* () {
        const { pagination } = yield* find({ search: "poster", ...request })
        assert.isAtLeast(pagination.total!, rows / 20)
        const read = assetsRead(yield* explained(find({ search: "poster", ...request }), { run: true }))
        assert.isNotEmpty(read)
        assert.isAtMost(Math.max(...read), limit)
      })
  )

  it.effect.each([{}, { sortBy: "name" }, { page: (rows * 2) / 3 / limit }] as const)(
    "a search by category only with %o reads its page from an index",
    (request) =>
      Effect.gen(function* () {
        const { pagination } = yield* find({ category: ["photos"], ...request })
        assert.strictEqual(pagination.total, (rows * 2) / 3)
        const read = assetsRead(yield* explained(find({ category: ["photos"], ...request }), { run: true }))
        assert.isNotEmpty(read)
        assert.isAtMost(Math.max(...read), 10 * limit)
      })
  )
})
