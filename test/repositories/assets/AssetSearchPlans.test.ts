import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { explained, nodes, type Plan } from "../../sql/Explained.ts"
import { find, limit, rows, services } from "./ManyAssets.ts"

/** Rows of assets that a node of a plan looked at. */
const assetsRead = (plan: Plan) =>
  nodes(plan)
    .filter((node) => node["Relation Name"] === "assets" || node["Index Name"]?.startsWith("assets_") === true)
    .map((node) => node["Actual Rows"] * node["Actual Loops"])

layer(services, { excludeTestServices: true, timeout: "60 seconds" })("a search that very many assets match", (it) => {
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
