import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { Asset, sortable } from "../../src/domain/Asset.ts"
import { parse } from "../../src/domain/Filter.ts"
import { fieldsOf } from "../../src/domain/FilterFields.ts"
import { Locales, make } from "../../src/domain/Locale.ts"
import { AssetCategories } from "../../src/repositories/AssetCategories.ts"
import { AssetMetaTags } from "../../src/repositories/AssetMetaTags.ts"
import { Assets } from "../../src/repositories/Assets.ts"
import { AssetSearch, type SearchRequest } from "../../src/repositories/AssetSearch.ts"
import { Files } from "../../src/repositories/Files.ts"
import { MetaTags } from "../../src/repositories/MetaTags.ts"
import { Renditions } from "../../src/repositories/Renditions.ts"
import { Sql } from "../../src/repositories/Sql.ts"
import { publicUrl, settings } from "../support/TestServer.ts"
import { explained, isScanOf, nodes, noting, Sent, wholeTable } from "./Explained.ts"

const rows = 20_000
const limit = 25

/** Half of the assets are told in two languages; a word of their names is on 20 of them each, "poster" on all. */
const fill = [
  `insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing)
    select gen_random_uuid(), 'File' || md5('f' || i) || '.' || e, e, 'text/plain', i * 7919 % 1000, md5(i::text), '', '', 'ready'
    from generate_series(1, ${rows}) i, lateral (select (array['pdf', 'png', 'jpg', 'mp4'])[1 + i % 4] as e) extension`,
  `insert into assets (uuid, file_uuid, translations, created_at, edited_at)
    select gen_random_uuid(), uuid, case when i % 2 = 0 then english else english || jsonb_build_array(
        jsonb_build_object('locale', 'nl', 'name', 'Affiche w' || left(md5('w' || i % 1000), 8))) end,
      timestamptz '2024-01-01' + i * interval '1 minute', timestamptz '2024-06-01' + (i * 7919 % ${rows}) * interval '1 minute'
    from (select uuid, row_number() over () as i from files) numbered,
      lateral (select jsonb_build_array(jsonb_build_object('locale', 'en', 'name',
        'Poster ' || 'w' || left(md5('w' || i % 1000), 8) || ' ' || md5('n' || i))) as english) texts`,
  `insert into asset_texts (asset_uuid, language, separate, document)
    select uuid, scope.language, case when jsonb_array_length(translations) > 1 then array['en', 'nl'] else '{}' end,
      waypost_document(waypost_name_words(file_name_original), 'simple', 'B') || (
        select string_agg(waypost_document(waypost_words(item->>'name'), waypost_configuration(item->>'locale'), 'A')::text, ' ')::tsvector
        from jsonb_array_elements(translations) item where scope.language in ('', item->>'locale'))
    from assets, lateral (select '' as language union all
      select item->>'locale' from jsonb_array_elements(translations) item where jsonb_array_length(translations) > 1) scope`,
  `insert into asset_words select distinct unnest(string_to_array(waypost_words(name), ' ')) from assets`,
  `insert into asset_categories (uuid, key, translations, position) values (gen_random_uuid(), 'few', '[]', 0)`,
  `insert into asset_category_links (asset_uuid, category_uuid)
    select a.uuid, c.uuid from (select uuid from assets order by created_at limit 40) a, asset_categories c`,
  ...["files", "assets", "asset_texts", "asset_words", "asset_category_links"].map((table) => `vacuum analyze ${table}`)
]

const services = AssetSearch.layer.pipe(
  Layer.provideMerge(Assets.layer),
  Layer.provide(AssetMetaTags.layer),
  Layer.provide(MetaTags.layer),
  Layer.provide([AssetCategories.layer, Files.layer, Renditions.layer]),
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(noting(fill)),
  Layer.provide([publicUrl, settings()])
)

const conditions = (filter: string) => Result.getOrThrow(parse(fieldsOf(Asset), filter))
const find = (request: SearchRequest) => Effect.flatMap(AssetSearch, (assets) => assets.search(request))
const numberOf = { first: 1, middle: rows / limit / 2, last: rows / limit }
const lists = sortable.flatMap((sortBy) =>
  (["asc", "desc"] as const).flatMap((sortOrder) =>
    (["first", "middle", "last"] as const).map((page) => ({ sortBy, sortOrder, page }))
  )
)
/** The word that twenty assets have in their names. */
const wordOf = (index: number) =>
  Effect.flatMap(Sql, ({ ordinary }) =>
    Effect.map(
      ordinary.unsafe<{ readonly word: string }>("select 'w' || left(md5('w' || $1::int), 8) as word", [index]),
      ([row]) => row!.word
    )
  )

layer(services, { excludeTestServices: true, timeout: "120 seconds" })("among very many assets", (it) => {
  it.effect.each(lists)("the $page page by $sortBy $sortOrder is read off an index", ({ page, sortBy, sortOrder }) =>
    Effect.gen(function* () {
      const assets = yield* Assets
      // The second read knows the total, and from which end to walk.
      yield* assets.list({ sortBy, sortOrder, limit })
      const plan = yield* explained(assets.list({ sortBy, sortOrder, limit, page: numberOf[page] }))
      assert.deepStrictEqual(wholeTable(plan, "assets"), [])
      const indexes = nodes(plan).map((node) => node["Index Name"] ?? "")
      assert.isTrue(indexes.some((name) => name.startsWith("assets_") && name !== "assets_pkey"))
    })
  )

  it.effect.each([{}, { locale: "nl" }, { locale: "en-GB" }, { locale: "de" }])(
    "a search %o reads an index and its hits only",
    (request) =>
      Effect.gen(function* () {
        const search = yield* wordOf(7)
        const { pagination } = yield* find({ search, ...request })
        assert.strictEqual(pagination.total, 20)
        for (const sought of [search, `poster ${search}`, search.slice(0, 8)]) {
          const plan = nodes(yield* explained(find({ search: sought, ...request }), { run: true }))
          assert.include(
            plan.map((node) => node["Index Name"]),
            "asset_texts_document"
          )
          assert.deepStrictEqual([...plan.filter(isScanOf("assets")), ...plan.filter(isScanOf("asset_texts"))], [])
          assert.isTrue(
            plan.every((node) => node["Actual Rows"] * node["Actual Loops"] <= 4 * 20),
            sought
          )
        }
      })
  )

  it.effect("a misspelt word is looked up in an index, and what it stands for as well", () =>
    Effect.gen(function* () {
      const word = yield* wordOf(11)
      const search = `${word.slice(0, 3)}${word[4]}${word[3]}${word.slice(5)}`
      const { pagination } = yield* find({ search })
      assert.isAtLeast(pagination.total, 20)
      const plan = nodes(yield* explained(find({ search })))
      assert.include(
        plan.map((node) => node["Index Name"]),
        "asset_texts_document"
      )
    })
  )

  it.effect("the words of a search are read once, however many assets have them", () =>
    Effect.gen(function* () {
      const { ordinary } = yield* Sql
      const sent = yield* Sent
      const { pagination } = yield* find({ search: "poster" })
      assert.strictEqual(pagination.total, rows)
      const { text, values } = sent.at(-1)!
      const calls = yield* ordinary.withTransaction(
        Effect.gen(function* () {
          yield* ordinary.unsafe("set local track_functions = 'pl'")
          yield* ordinary.unsafe(text, values).unprepared
          const [row] = yield* ordinary.unsafe<{ readonly calls: number }>(
            "select calls::int from pg_stat_xact_user_functions where funcname = 'waypost_asset_query'"
          )
          return row!.calls
        })
      )
      // The planner may read them too, to estimate.
      assert.isAtMost(calls, 5)
    })
  )

  it.effect("a category of few assets is read off its own index", () =>
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
    ["createdAt:equals:2024-01-03", "assets_created_at"]
  ] as const)("%s is answered from %s", ([filter, index]) =>
    Effect.gen(function* () {
      const assets = yield* Assets
      const plan = yield* explained(assets.list({ filter: conditions(filter) }))
      assert.include(
        nodes(plan).map((node) => node["Index Name"]),
        index
      )
    })
  )
})
