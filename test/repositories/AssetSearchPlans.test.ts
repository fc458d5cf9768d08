import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Locales, make } from "../../src/domain/Locale.ts"
import { AssetCategories } from "../../src/repositories/AssetCategories.ts"
import { AssetMetaTags } from "../../src/repositories/AssetMetaTags.ts"
import { Assets } from "../../src/repositories/Assets.ts"
import { AssetSearch, type SearchRequest } from "../../src/repositories/AssetSearch.ts"
import { Files } from "../../src/repositories/Files.ts"
import { MetaTags } from "../../src/repositories/MetaTags.ts"
import { Renditions } from "../../src/repositories/Renditions.ts"
import { publicUrl, settings } from "../support/TestServer.ts"
import { explained, nodes, noting, type Plan } from "./Explained.ts"

const rows = 21_000
const limit = 25

/** One in ten assets is a poster, two in three are photos; the words are as long as names are. */
const fill = [
  `insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing)
    select md5('f' || i)::uuid, md5(i::text) || '.pdf', 'pdf', 'text/plain', i, '', '', '', 'ready' from generate_series(1, ${rows}) i`,
  `insert into assets (uuid, file_uuid, translations, created_at)
    select md5('a' || i)::uuid, md5('f' || i)::uuid, jsonb_build_array(jsonb_build_object('locale', 'en', 'name',
      case when i % 10 = 0 then 'Poster ' else 'Banner ' end || md5(i::text))), timestamptz '2024-01-01' + i * interval '1 minute'
    from generate_series(1, ${rows}) i`,
  `insert into asset_texts (asset_uuid, language, separate, document)
    select uuid, '', '{}', waypost_document(waypost_words(name), 'english', 'A') from assets`,
  `insert into asset_categories (uuid, key, translations, position) values (md5('photos')::uuid, 'photos', '[]', 0)`,
  `insert into asset_category_links (asset_uuid, category_uuid)
    select md5('a' || i)::uuid, md5('photos')::uuid from generate_series(1, ${rows}) i where i % 3 > 0`,
  ...["files", "assets", "asset_texts", "asset_category_links"].map((table) => `vacuum analyze ${table}`)
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

/** Rows of assets that a node of a plan looked at. */
const assetsRead = (plan: Plan) =>
  nodes(plan)
    .filter((node) => node["Relation Name"] === "assets" || node["Index Name"]?.startsWith("assets_") === true)
    .map((node) => node["Actual Rows"] * node["Actual Loops"])

layer(services, { excludeTestServices: true, timeout: "60 seconds" })("a search that very many assets match", (it) => {
  const find = (request: SearchRequest) => Effect.flatMap(AssetSearch, (assets) => assets.search({ limit, ...request }))

  it.effect.each([{}, { page: 80 }, { locale: "nl" }, { category: ["photos"] }])(
    "by relevance %o reads the assets of its page and no others",
    (request) =>
      Effect.gen(function* () {
        const { pagination } = yield* find({ search: "poster", ...request })
        assert.isAtLeast(pagination.total, rows / 20)
        const read = assetsRead(yield* explained(find({ search: "poster", ...request }), { run: true }))
        assert.isNotEmpty(read)
        assert.isAtMost(Math.max(...read), limit)
      })
  )

  it.effect.each([{}, { sortBy: "name" }, { page: (rows * 2) / 3 / limit }] as const)(
    "of a category and no words %o reads a page off an index",
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
