import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { explained, nodes, type Plan } from "../../sql/Explained.ts"
import { find, limit, rows, services } from "./ManyAssets.ts"

/** The numbers of asset rows that the nodes of a plan read. */
const assetsRead = (plan: Plan) =>
  nodes(plan)
    .filter((node) => node["Relation Name"] === "assets" || node["Index Name"]?.startsWith("assets_") === true)
    .map((node) => node["Actual Rows"] * node["Actual Loops"])

layer(services, { excludeTestServices: true })("query plans of searches with many matches", (it) => {
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
