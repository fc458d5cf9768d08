import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { AssetCategoryCreate, type AssetCategoryId } from "../../../src/domain/assets/AssetCategory.ts"
import { noPrecondition } from "../../../src/domain/query/Precondition.ts"
import { Locales, make } from "../../../src/domain/schema/Locale.ts"
import { AssetCategories } from "../../../src/repositories/assets/AssetCategories.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"

const services = AssetCategories.layer.pipe(
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(Postgres.sql),
  Layer.provide(settings())
)

const unknownUuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30" as AssetCategoryId
const category = (key: string, parentUuid?: AssetCategoryId) =>
  Effect.flatMap(AssetCategories, (categories) =>
    Effect.map(
      categories.create(Schema.decodeSync(AssetCategoryCreate)({ key, parentUuid: parentUuid ?? null })),
      ({ uuid }) => uuid
    )
  )

layer(services, { excludeTestServices: true })("repository of asset categories", (it) => {
  it.effect("keys and uuids resolve to categories without duplicates, and unknown ones are all reported", () =>
    Effect.gen(function* () {
      const categories = yield* AssetCategories
      const [a, b] = [yield* category("named-a"), yield* category("named-b")]
      assert.deepStrictEqual(yield* categories.resolve([]), [])
      assert.deepStrictEqual(yield* categories.resolve(["named-b", ` ${a.toUpperCase()} `, b, "named-a"]), [b, a])
      const error = yield* Effect.flip(
        categories.resolve(["named-a", "unknown", unknownUuid, "NAMED-B", "", "a\0b", "unknown"])
      )
      assert.deepStrictEqual(error.invalid, ["unknown", unknownUuid, "NAMED-B", "", "a\0b"])
    })
  )

  it.effect("categories are returned with all their descendants", () =>
    Effect.gen(function* () {
      const categories = yield* AssetCategories
      const [a, b] = [yield* category("top"), yield* category("beside")]
      const below = yield* category("below", a)
      const deeper = yield* category("deeper", below)
      assert.sameMembers([...(yield* categories.withDescendants([a, b]))], [a, b, below, deeper])
      assert.sameMembers([...(yield* categories.withDescendants([below]))], [below, deeper])
      assert.sameMembers([...(yield* categories.withDescendants([deeper, a]))], [a, below, deeper])
      assert.deepStrictEqual(yield* categories.withDescendants([unknownUuid]), [])
    })
  )

  it.effect("the second of two concurrent moves that would form a cycle is rejected", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const categories = yield* AssetCategories
      const [a, b] = [yield* category("circle-a"), yield* category("circle-b")]
      const [moved, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const first = yield* Effect.forkChild(
        pooled.withTransaction(
          Effect.gen(function* () {
            yield* pooled`update asset_categories set parent_uuid = ${b} where uuid = ${a}`
            yield* Deferred.succeed(moved, undefined)
            yield* Deferred.await(go)
          })
        )
      )
      yield* Deferred.await(moved)
      const second = yield* Effect.forkChild(Effect.result(categories.update(b, { parentUuid: a }, noPrecondition)))
      yield* Effect.sleep("100 millis")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(first)
      const refused = yield* Fiber.join(second)
      assert.strictEqual(refused._tag === "Failure" ? refused.failure.message : "", circle)
      assert.notProperty(JSON.parse(yield* categories.get(b)), "parentUuid")
    })
  )
})

const circle = "parentUuid: A category cannot stand below itself"
