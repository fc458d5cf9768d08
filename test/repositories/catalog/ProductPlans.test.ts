import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { parse } from "../../../src/domain/query/Filter.ts"
import { fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { Locales, make } from "../../../src/domain/schema/Locale.ts"
import { Product, sortable } from "../../../src/domain/catalog/Product.ts"
import { Memberships } from "../../../src/repositories/people/Memberships.ts"
import { ProductModules } from "../../../src/repositories/catalog/ProductModules.ts"
import { Products } from "../../../src/repositories/catalog/Products.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"
import { assertWalk, explained, filled, isScanOf, keptPlans, nodes, type Plan } from "../../sql/Explained.ts"

const rows = 20_000

const fill = [
  `insert into products (uuid, type, identifier, name, status, position, tags, categories, created_at, edited_at)
    select gen_random_uuid(), (array['default', 'variantParent'])[1 + i % 2], 'ID-' || md5(i::text), 'Product ' || md5('x' || i),
      (array['draft', 'published', 'archived'])[1 + i % 3], i * 7919 % ${rows}, array['tag ' || i % 5000], array['c' || i % 5000],
      timestamptz '2024-01-01' + i * interval '1 minute', timestamptz '2024-06-01' + (i * 7919 % ${rows}) * interval '1 minute'
    from generate_series(1, ${rows}) i`,
  "insert into product_modules (product_uuid, module, settings) select uuid, 'api', '{}' from products where type = 'default'",
  "vacuum analyze products",
  "vacuum analyze product_modules"
]

const services = Products.layer.pipe(
  Layer.provide(ProductModules.layer),
  Layer.provide(Memberships.layer),
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(filled(fill)),
  Layer.provide([publicUrl, settings()])
)

const scansTable = (plan: Plan) => nodes(plan).some(isScanOf("products"))
const indexesOf = (plan: Plan) => nodes(plan).map((node) => node["Index Name"] ?? "")

/** How the names of the indexes for an order begin. */
const indexOf = (sortBy: string) => `products_${sortBy.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)}`

const limit = 25
const lists = sortable.flatMap((sortBy) =>
  (["asc", "desc"] as const).flatMap((sortOrder) =>
    [1, rows / limit / 2, rows / limit].map((page) => ({ sortBy, sortOrder, page }))
  )
)

layer(services, { excludeTestServices: true })("query plans with many products", (it) => {
  it.effect.each(lists)("page $page by $sortBy $sortOrder is read from its index", ({ page, sortBy, sortOrder }) =>
    Effect.gen(function* () {
      const products = yield* Products
      // The second read has the cached total and starts from the nearer end.
      yield* products.list({ sortBy, sortOrder, limit })
      const plan = yield* explained(products.list({ sortBy, sortOrder, limit, page }))
      assert.isFalse(scansTable(plan))
      assert.isTrue(indexesOf(plan).some((index) => index.startsWith(indexOf(sortBy))))
    })
  )

  it.effect.each(lists.filter(({ page }) => page === 1))(
    "a page behind a cursor by $sortBy $sortOrder reads no more of an index than it has",
    ({ sortBy, sortOrder }) =>
      Effect.gen(function* () {
        const products = yield* Products
        yield* assertWalk((request) => products.list(request), {
          sortBy,
          sortOrder,
          limit,
          rows: 2000,
          table: "products",
          index: indexOf(sortBy)
        })
      })
  )

  it.effect.each([
    ["identifier:equals:ID-x", "products_identifier"],
    ["name:equals:Product x", "products_name"],
    ["name:contains:a1b", "products_trigrams"],
    ["identifier:startsWith:id-0f", "products_trigrams"],
    ["tags:equals:tag 77", "products_tags"],
    ["categories:equals:c77", "products_categories"]
  ])("the filter %s uses the index %s", ([filter, index]) =>
    Effect.gen(function* () {
      const products = yield* Products
      const conditions = Result.getOrThrow(parse(fieldsOf(Product), filter!))
      const plan = yield* explained(products.list({ filter: conditions }))
      assert.include(indexesOf(plan), index)
      assert.isFalse(scansTable(plan))
    })
  )

  it.effect.each(["name:contains:a1b2c3d", "name:endsWith:0f3a1b2", "identifier:startsWith:id-0f3a1b"])(
    "the filter %s is planned once, and not for each request",
    (filter) =>
      Effect.gen(function* () {
        const products = yield* Products
        const request = { filter: Result.getOrThrow(parse(fieldsOf(Product), filter)), limit }
        assert.isAtLeast(yield* keptPlans(products.list(request)), 6)
      })
  )
})
