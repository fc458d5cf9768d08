import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { parse } from "../../../src/domain/query/Filter.ts"
import { fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { User } from "../../../src/domain/people/User.ts"
import type { ListRequest } from "../../../src/sql/lists/Listing.ts"
import { Memberships } from "../../../src/repositories/people/Memberships.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"
import { explained, filled, isScanOf, nodes, rowsOf } from "../../sql/Explained.ts"

const rows = 20_000
const group = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"

const fill = [
  `insert into users (uuid, username, email, last_name, status, role, language_code, created_at)
    select gen_random_uuid(), 'user-' || md5(i::text), md5('e' || i) || '@example.com', 'Name ' || md5('n' || i),
      'active', 'ROLE_USER', 'en', timestamptz '2024-01-01' + (i * 7919 % ${rows}) * interval '1 minute'
    from generate_series(1, ${rows}) i`,
  `insert into groups (uuid, name) values ('${group}', 'Everyone')`,
  `insert into user_groups (user_uuid, group_uuid) select uuid, '${group}' from users`,
  "vacuum analyze users",
  "vacuum analyze groups",
  "vacuum analyze user_groups"
]

const services = Memberships.layer.pipe(Layer.provideMerge(filled(fill)), Layer.provide([publicUrl, settings()]))

const filter = (text: string) => Result.getOrThrow(parse(fieldsOf(User), text))
const limit = 25

const firstPages: ReadonlyArray<ListRequest> = (["createdAt", "username", "lastName"] as const).flatMap((sortBy) =>
  (["asc", "desc"] as const).map((sortOrder) => ({ sortBy, sortOrder, limit }))
)
const filtered = [
  "username:contains:a1b",
  "lastName:startsWith:name 0f",
  "email:startsWith:0f3",
  "username:equals:user-x"
]

layer(services, { excludeTestServices: true })("query plans of a group with 20,000 members", (it) => {
  const page = (request: ListRequest) =>
    Effect.flatMap(Memberships, (memberships) => memberships.list("groups", group, "users", request))

  /** The executed plan of the statement that reads a page. */
  const executed = (request: ListRequest) => Effect.map(explained(page(request), { run: true }), nodes)

  it.effect.each(firstPages)(
    "the first page of members by $sortBy $sortOrder reads a page of rows, not all members",
    (request) =>
      Effect.gen(function* () {
        const plan = yield* executed(request)
        assert.isTrue(plan.some((node) => node["Index Name"]?.startsWith("users_") === true))
        const large = plan.filter((node) => rowsOf(node) > 10 * limit)
        assert.deepStrictEqual(large, [])
      })
  )

  it.effect.each(filtered)("a page of members filtered by %s uses an index and sorts only its matches", (text) =>
    Effect.gen(function* () {
      const request = { filter: filter(text), sortBy: "username", sortOrder: "asc", limit } as const
      const { pagination } = yield* page(request)
      assert.isBelow(pagination.total!, rows / 20)
      const plan = yield* executed(request)
      const sorts = plan.filter((node) => node["Node Type"].endsWith("Sort"))
      assert.isTrue(sorts.every((node) => rowsOf(node) <= pagination.total!))
      assert.deepStrictEqual(plan.filter(isScanOf("users")), [])
    })
  )

  it.effect("the total of members equals user_count and the number of rows, on every page", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [counts] = yield* pooled.unsafe(
        `select user_count, (select count(*)::int from user_groups where group_uuid = $1) as joined from groups where uuid = $1`,
        [group]
      )
      assert.deepStrictEqual(counts, { user_count: rows, joined: rows })
      for (const number of [1, 2, rows / limit / 2, rows / limit, rows / limit + 1]) {
        const { data, pagination } = yield* page({ limit, page: number })
        assert.deepStrictEqual(pagination, { limit, page: number, total: rows, pageCount: rows / limit })
        const uuids = (JSON.parse(data as unknown as string) as ReadonlyArray<{ readonly uuid: string }>).map(
          ({ uuid }) => uuid
        )
        assert.strictEqual(new Set(uuids).size, number > rows / limit ? 0 : limit)
      }
      const all = yield* page({ filter: filter("username:startsWith:user-") })
      assert.strictEqual(all.pagination.total, rows)
    })
  )
})
