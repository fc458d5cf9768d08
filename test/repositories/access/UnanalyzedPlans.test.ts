import { assert, layer } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Repositories from "../../../src/app/layers/Repositories.ts"
import { seenBy } from "../../../src/repositories/access/Audiences.ts"
import { noVisibility } from "../../../src/repositories/catalog/ModuleReferences.ts"
import { Products } from "../../../src/repositories/catalog/Products.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { explained, nodes, rowsOf } from "../../sql/Explained.ts"
import * as Postgres from "../../support/Postgres.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"

const products = 6000

/** Each product is for one group, with one user and one location. PostgreSQL has no statistics of any table. */
const fill = [
  ...[
    "users",
    "groups",
    "user_groups",
    "locations",
    "group_locations",
    "products",
    "product_modules",
    "access_lists"
  ].map((table) => `alter table ${table} set (autovacuum_enabled = off)`),
  `insert into users (uuid, username, email, status, role, language_code)
    select gen_random_uuid(), 'user-' || i, i || '@example.com', 'active', 'ROLE_USER', 'en' from generate_series(1, ${products}) i`,
  `insert into locations (uuid, name, identifier)
    select gen_random_uuid(), 'Branch', 'branch-' || i from generate_series(1, ${products}) i`,
  `insert into groups (uuid, name) select gen_random_uuid(), 'group-' || i from generate_series(1, ${products}) i`,
  `insert into user_groups (user_uuid, group_uuid)
    select u.uuid, g.uuid from users u join groups g on substr(g.name, 7) = substr(u.username, 6)`,
  `insert into group_locations (group_uuid, location_uuid)
    select g.uuid, l.uuid from groups g join locations l on substr(g.name, 7) = substr(l.identifier, 8)`,
  `insert into products (uuid, type, identifier, name, status, position)
    select gen_random_uuid(), 'default', 'PRD-' || i, 'Flyer ' || i, 'published', i from generate_series(1, ${products}) i`,
  `insert into product_modules (product_uuid, module, settings)
    select p.uuid, 'permissions', jsonb_build_object('authorizationType', 'groups', 'groups', jsonb_build_array(
      jsonb_build_object('uuid', g.uuid, 'actions', jsonb_build_array('view'))))
    from products p join groups g on substr(g.name, 7) = substr(p.identifier, 5)`
]

/** Without the creation of indexes, which counts the rows of their tables. */
const filled = Layer.effectDiscard(
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(fill, (statement) => sql.unsafe(statement))).pipe(
    Effect.provide(Postgres.untimed)
  )
).pipe(Layer.provideMerge(Postgres.sql))

const services = Repositories.layer.pipe(
  Layer.provideMerge(filled),
  Layer.provide([publicUrl, settings(), NodeServices.layer])
)

layer(services, { excludeTestServices: true })("who sees what while PostgreSQL has no statistics", (it) => {
  it.effect.each([
    ["users", "username", "user-77"],
    ["locations", "identifier", "branch-77"]
  ] as const)("the products that one of the %s sees are found once", ([subject, column, name]) =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [row] = yield* pooled<{ readonly uuid: string }>`
        select uuid from ${pooled(subject)} where ${pooled(column)} = ${name}`
      const list = (yield* Products).listWithin(seenBy(subject, row!.uuid, "products"), {}, noVisibility)
      const page = yield* Effect.flatMap(list, Effect.fromOption)
      assert.strictEqual(page.pagination.total, 1)
      const plan = yield* explained(list, { run: true })
      assert.isAtMost(Math.max(...nodes(plan).map(rowsOf)), 10 * products)
    })
  )
})
