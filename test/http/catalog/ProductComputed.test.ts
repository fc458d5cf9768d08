import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import {
  activate,
  createGroup,
  createLocation,
  createProduct,
  createUser,
  createVariant,
  putModule,
  readModule,
  readProduct
} from "../../support/requests/ProductRequests.ts"
import { send, unknownUuid } from "../../support/requests/Requests.ts"

const put = (path: string, body: unknown) => send("PUT", path, { body })
const refs = (...uuids: ReadonlyArray<string>) => uuids.map((uuid) => ({ uuid }))

layer(TestServer.layer(), { excludeTestServices: true })("Computed members of modules", (it) => {
  it.effect("resolvedCount of the locations module follows its lists, its groups and deletions", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const [a, b, c, d] = yield* Effect.replicateEffect(
        Effect.suspend(() => createLocation()),
        4
      )
      const group = yield* createGroup({ locations: [b, c] })
      const total = (yield* send("GET", "/v1/locations")).body.pagination.total as number
      const count = (body: object) =>
        Effect.map(activate(uuid, "locations", body), ({ resolvedCount }) => resolvedCount)
      const lists = { locations: refs(a!, b!), groups: refs(group) }
      assert.strictEqual(yield* count({ mode: "all", ...lists }), total)
      assert.strictEqual(yield* count({ mode: "include" }), 0)
      assert.strictEqual(yield* count({ mode: "exclude" }), total)
      assert.strictEqual(yield* count({ mode: "exclude", ...lists }), total - 3)
      assert.strictEqual(yield* count({ mode: "include", ...lists }), 3)
      const now = Effect.map(readModule(uuid, "locations"), ({ resolvedCount }) => resolvedCount)
      yield* put(`/v1/groups/${group}/locations`, { locations: [c, d] })
      assert.strictEqual(yield* now, 4)
      yield* send("DELETE", `/v1/locations/${a}`)
      assert.strictEqual(yield* now, 3)
      yield* send("DELETE", `/v1/groups/${group}`)
      assert.strictEqual(yield* now, 1)
    })
  )

  it.effect("resolvedUserCount of the permissions module follows its groups and locations, and is 0 by default", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const [a, b, c] = yield* Effect.replicateEffect(
        Effect.suspend(() => createUser()),
        3
      )
      const groups = [yield* createGroup({ users: [a, b] }), yield* createGroup({ users: [b, c] })]
      const location = yield* createLocation()
      yield* put(`/v1/users/${c}/locations`, { locations: [location] })
      const count = (body: object) =>
        Effect.map(activate(uuid, "permissions", body), ({ resolvedUserCount }) => resolvedUserCount)
      const total = (yield* send("GET", "/v1/users")).body.pagination.total as number
      const lists = { groups: refs(...groups), locations: refs(location) }
      assert.strictEqual(yield* count({}), 0)
      assert.strictEqual(yield* count({ authorizationType: "everyone" }), total)
      assert.strictEqual(yield* count({ authorizationType: "locations", ...lists }), 1)
      assert.strictEqual(yield* count({ authorizationType: "groups", ...lists }), 3)
      yield* send("DELETE", `/v1/users/${b}`)
      assert.strictEqual((yield* readModule(uuid, "permissions")).resolvedUserCount, 2)
    })
  )

  it.effect("the variants module lists the variants, counts missing combinations and names the default variant", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct({ type: "variantParent" })
      const option = (key: string, ...values: ReadonlyArray<string>) => ({
        key,
        values: values.map((value) => ({ key: value }))
      })
      const options = [option("size", "a4", "a5"), option("paper", "matt", "gloss")]
      const chosen = (size: string, paper: string) => [
        { option: "size", value: size },
        { option: "paper", value: paper }
      ]
      const second = yield* createVariant(uuid, { name: "B", position: 2, optionValues: chosen("a4", "gloss") })
      const first = yield* createVariant(uuid, {
        name: "A",
        position: 1,
        optionValues: chosen("a4", "matt"),
        status: "published"
      })
      yield* createVariant(uuid, { name: "C", position: 3, optionValues: chosen("a3", "matt") })
      yield* activate(first, "stock", { mode: "trackOnly", onHand: 5, reserved: 2 })
      yield* activate(second, "stock", { mode: "none", onHand: 5 })
      const read = yield* activate(uuid, "variants", { options, defaultVariantUuid: second })
      assert.strictEqual(read.missingCombinations, 2)
      assert.deepStrictEqual(
        read.variants.map(({ active, available, name, position }: any) => [name, position, active, available]),
        [
          ["A", 1, true, 3],
          ["B", 2, false, undefined],
          ["C", 3, false, undefined]
        ]
      )
      assert.deepStrictEqual(read.variants[0].optionValues, chosen("a4", "matt"))
      assert.strictEqual((yield* readProduct(uuid)).defaultVariantUuid, second)
      for (const other of [unknownUuid, uuid, yield* createVariant(yield* createProduct({ type: "variantParent" }))]) {
        const rejected = yield* putModule(uuid, "variants", { options, defaultVariantUuid: other })
        assert.deepStrictEqual([rejected.status, rejected.body.issues?.[0].path], [400, "defaultVariantUuid"])
      }
      yield* send("DELETE", `/v1/products/${second}`)
      const after = yield* readModule(uuid, "variants")
      assert.deepStrictEqual([after.missingCombinations, after.variants.length], [3, 2])
      for (const one of [after, yield* readProduct(uuid)]) assert.notProperty(one, "defaultVariantUuid")
    })
  )

  it.effect("the reservations module lists the next hundred reservations and leaves out past ones", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuid = yield* createProduct()
      const location = yield* createLocation()
      const book = (count: number, from: string) =>
        pooled.unsafe(
          `insert into product_reservations (uuid, product_uuid, location_uuid, starts_at, ends_at, quantity, status)
            select gen_random_uuid(), $1::uuid, $2::uuid, now() + $3::interval + i * interval '1 hour',
              now() + $3::interval + (i + 1) * interval '1 hour', i, 'confirmed' from generate_series(1, $4::int) i`,
          [uuid, location, from, count]
        )
      yield* book(1, "-30 days")
      yield* book(1, "-90 minutes")
      yield* book(120, "1 day")
      const { upcoming } = yield* activate(uuid, "reservations", {})
      assert.lengthOf(upcoming, 100)
      assert.deepInclude(upcoming[0], { locationUuid: location, quantity: 1, status: "confirmed" })
      assert.isBelow(Date.parse(upcoming[0].from), Date.now())
      assert.deepStrictEqual(
        upcoming.slice(1).map(({ quantity }: any) => quantity),
        Array.from({ length: 99 }, (_, index) => index + 1)
      )
      yield* send("DELETE", `/v1/locations/${location}`)
      assert.deepStrictEqual((yield* readModule(uuid, "reservations")).upcoming, [])
    })
  )

  it.effect(
    "fifty concurrent writes of one stock module all succeed, and the stored module is that of one of them",
    () =>
      Effect.gen(function* () {
        const uuid = yield* createProduct()
        const body = (index: number) => ({
          mode: "trackOnly",
          onHand: 10 * index,
          reserved: index,
          levels: [{ warehouse: `w${index}`, onHand: 10 * index, reserved: index }]
        })
        const other = Array.from({ length: 10 }, () => putModule(uuid, "price", { taxIncluded: true }))
        const answers = yield* Effect.all(
          [...Array.from({ length: 50 }, (_, index) => putModule(uuid, "stock", body(index + 1))), ...other],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          answers.filter(({ status }) => status !== 200).map(({ text }) => text),
          []
        )
        const read = yield* readModule(uuid, "stock")
        assert.deepInclude(read, { onHand: 10 * read.reserved, available: 9 * read.reserved })
        assert.strictEqual(read.levels[0].warehouse, `w${read.reserved}`)
      })
  )
})
