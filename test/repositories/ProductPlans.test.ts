import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { parse } from "../../src/domain/Filter.ts"
import { fieldsOf } from "../../src/domain/FilterFields.ts"
import { Locales, make } from "../../src/domain/Locale.ts"
import { Product, sortable } from "../../src/domain/Product.ts"
import { Memberships } from "../../src/repositories/Memberships.ts"
import { ProductModules } from "../../src/repositories/ProductModules.ts"
import { Products } from "../../src/repositories/Products.ts"
import { Database, Sql } from "../../src/repositories/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { publicUrl, settings } from "../support/TestServer.ts"

const rows = 20_000

interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** The statements that went to the database, newest last. */
class Sent extends Context.Service<Sent, Array<Statement>>()("waypost/test/ProductPlans/Sent") {}

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

/** The rows, through a connection without the timeouts of the service. */
const filled = Layer.effectDiscard(
  Effect.gen(function* () {
    const database = yield* Database
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.forEach(fill, (statement) => sql.unsafe(statement), { discard: true })
    ).pipe(Effect.provide(PgClient.layer({ ...database, maxConnections: 1 })))
  })
)

/** The pools, noting the statements that the repositories build. */
const noting = Layer.effect(
  Sql,
  Effect.gen(function* () {
    const sent = yield* Sent
    const { bounded, ordinary } = yield* Sql
    const note = (client: SqlClient.SqlClient): SqlClient.SqlClient =>
      new Proxy(client, {
        get: (target, member, receiver) =>
          member === "unsafe"
            ? (text: string, values: ReadonlyArray<unknown> = []) => {
                sent.push({ text, values })
                return target.unsafe(text, values)
              }
            : Reflect.get(target, member, receiver)
      })
    return Sql.of({ bounded: note(bounded), ordinary: note(ordinary) })
  })
).pipe(Layer.provideMerge(Layer.provideMerge(filled, Postgres.sql)))

const services = Products.layer.pipe(
  Layer.provide(ProductModules.layer),
  Layer.provide(Memberships.layer),
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(noting),
  Layer.provideMerge(Layer.succeed(Sent, [])),
  Layer.provide([publicUrl, settings()])
)

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly Plans?: ReadonlyArray<Plan>
}
const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]
const scansTable = (plan: Plan) =>
  nodes(plan).some((node) => node["Node Type"] === "Seq Scan" && node["Relation Name"] === "products")
const indexesOf = (plan: Plan) => nodes(plan).map((node) => node["Index Name"] ?? "")

const limit = 25
const lists = sortable.flatMap((sortBy) =>
  (["asc", "desc"] as const).flatMap((sortOrder) =>
    [1, rows / limit / 2, rows / limit].map((page) => ({ sortBy, sortOrder, page }))
  )
)

layer(services, { excludeTestServices: true, timeout: "60 seconds" })("on many products", (it) => {
  const explained = Effect.fnUntraced(function* <E>(statement: Effect.Effect<unknown, E, Sql>) {
    const { ordinary } = yield* Sql
    const sent = yield* Sent
    yield* statement
    const { text, values } = sent.at(-1) ?? assert.fail("no statement")
    const [row] = yield* ordinary.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
      `explain (format json) ${text}`,
      values
    ).unprepared
    return row!["QUERY PLAN"][0]!.Plan
  })

  it.effect.each(lists)("page $page by $sortBy $sortOrder is read off its index", ({ page, sortBy, sortOrder }) =>
    Effect.gen(function* () {
      const products = yield* Products
      // The second read knows the total, and from which end to walk.
      yield* products.list({ sortBy, sortOrder, limit })
      const plan = yield* explained(products.list({ sortBy, sortOrder, limit, page }))
      assert.isFalse(scansTable(plan))
      const name = `products_${sortBy.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)}`
      assert.isTrue(indexesOf(plan).some((index) => index.startsWith(name)))
    })
  )

  it.effect.each([
    ["identifier:equals:ID-x", "products_identifier"],
    ["name:equals:Product x", "products_name"],
    ["name:contains:a1b", "products_trigrams"],
    ["identifier:startsWith:id-0f", "products_trigrams"],
    ["tags:equals:tag 77", "products_tags"],
    ["categories:equals:c77", "products_categories"]
  ])("%s is answered from %s", ([filter, index]) =>
    Effect.gen(function* () {
      const products = yield* Products
      const conditions = Result.getOrThrow(parse(fieldsOf(Product), filter!))
      const plan = yield* explained(products.list({ filter: conditions }))
      assert.include(indexesOf(plan), index)
      assert.isFalse(scansTable(plan))
    })
  )
})
