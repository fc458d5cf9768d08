import { assert, layer } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { DateTime, Effect, Layer } from "effect"
import * as Repositories from "../../../src/app/layers/Repositories.ts"
import { seenBy } from "../../../src/repositories/access/Audiences.ts"
import { Explanations } from "../../../src/repositories/access/Explanations.ts"
import { Products } from "../../../src/repositories/catalog/Products.ts"
import { PastRecords } from "../../../src/repositories/changes/PastRecords.ts"
import { noVisibility } from "../../../src/repositories/catalog/ModuleReferences.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { filled, keptPlans } from "../../sql/Explained.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"

const products = 5000
const groups = 200
const users = 10_000

/** The first user is in every group, and each other one in two; a group sees 25 products. */
const fill = [
  `insert into users (uuid, username, email, status, role, language_code)
    select gen_random_uuid(), 'user-' || i, i || '@example.com', 'active', 'ROLE_USER', 'en' from generate_series(1, ${users}) i`,
  `insert into groups (uuid, name) select gen_random_uuid(), 'Group ' || i from generate_series(1, ${groups}) i`,
  `insert into user_groups (user_uuid, group_uuid)
    select u.uuid, g.uuid from users u join groups g on u.username = 'user-1'
      or substr(g.name, 7)::int in (1 + substr(u.username, 6)::int % ${groups}, 1 + substr(u.username, 6)::int * 7 % ${groups})`,
  `insert into products (uuid, type, identifier, name, status, position)
    select gen_random_uuid(), 'default', 'PRD-' || i, 'Flyer ' || i, 'published', i from generate_series(1, ${products}) i`,
  `insert into product_modules (product_uuid, module, settings)
    select p.uuid, 'permissions', jsonb_build_object('authorizationType', 'groups', 'groups', jsonb_build_array(
      jsonb_build_object('uuid', g.uuid, 'actions', jsonb_build_array('view')))) from products p
    join groups g on g.name = 'Group ' || (1 + substr(p.identifier, 5)::int % ${groups})`,
  "vacuum analyze"
]

const services = Repositories.layer.pipe(
  Layer.provideMerge(filled(fill)),
  Layer.provide([publicUrl, settings(), NodeServices.layer])
)

const uuidOf = (username: string) =>
  Effect.gen(function* () {
    const { pooled } = yield* Sql
    const [row] = yield* pooled<{ readonly uuid: string }>`select uuid from users where username = ${username}`
    return row!.uuid
  })

layer(services, { excludeTestServices: true })("query plans of who sees what", (it) => {
  it.effect.each([
    ["user-77", 50],
    ["user-1", products]
  ] as const)(
    "the products that %s sees, %i of them, are planned once, and not for each request",
    ([username, total]) =>
      Effect.gen(function* () {
        const list = (yield* Products).listWithin(
          seenBy("users", yield* uuidOf(username), "products"),
          {},
          noVisibility
        )
        const page = yield* Effect.flatMap(list, Effect.fromOption)
        assert.strictEqual(page.pagination.total, total)
        assert.isAtLeast(yield* keptPlans(list), 6)
      })
  )

  it.effect("why a user sees a product is planned once, and not for each request", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [product] = yield* pooled<{ readonly uuid: string }>`select uuid from products limit 1`
      const pair = {
        subject: "users",
        subjectUuid: yield* uuidOf("user-77"),
        resource: "products",
        resourceUuid: product!.uuid
      } as const
      const explanations = yield* Explanations
      assert.isAtLeast(yield* keptPlans(explanations.explain(pair), "select exists"), 6)
    })
  )

  it.effect("a user of the past is planned once, and not for each request", () =>
    Effect.gen(function* () {
      const [past, uuid] = [yield* PastRecords, yield* uuidOf("user-77")]
      const at = yield* DateTime.now
      assert.isAtLeast(yield* keptPlans(past.get("users", uuid, at), "with moment as materialized"), 6)
    })
  )
})
