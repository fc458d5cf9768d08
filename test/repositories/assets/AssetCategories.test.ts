import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { AssetCategoryCreate, AssetCategoryId } from "../../../src/domain/assets/AssetCategory.ts"
import { noPrecondition } from "../../../src/domain/query/Precondition.ts"
import { Locales, make } from "../../../src/domain/schema/Locale.ts"
import { AssetCategories } from "../../../src/repositories/assets/AssetCategories.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { unknownUuid } from "../../support/requests/Requests.ts"
import { settings } from "../../support/TestServer.ts"

const services = AssetCategories.layer.pipe(
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(Postgres.sql),
  Layer.provide(settings())
)

const many = 10_000
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

  it.effect("a category of 10,000 assets is deleted, and each asset has the change in the log", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const categories = yield* AssetCategories
      const large = yield* category("large")
      yield* pooled.unsafe(`
        insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing)
          select md5('file' || i)::uuid, 'a.txt', 'txt', 'text/plain', 1, md5(''), '', '', 'ready' from generate_series(1, ${many}) i`)
      yield* pooled.unsafe(`
        insert into assets (uuid, file_uuid, translations)
          select md5('asset' || i)::uuid, md5('file' || i)::uuid, '[{"locale": "en", "name": "A"}]' from generate_series(1, ${many}) i`)
      yield* pooled`truncate pending_changes`
      yield* pooled.unsafe(`
        insert into asset_category_links (asset_uuid, category_uuid)
          select md5('asset' || i)::uuid, '${large}' from generate_series(1, ${many}) i`)
      yield* categories.delete(large, noPrecondition)
      const listed = { categories: [{ uuid: large, key: "large" }] }
      const logged = yield* pooled`
        select count(distinct uuid)::int as assets, before, after from pending_changes where type = 'asset'
        group by before, after order by min(id)`
      assert.deepStrictEqual(logged, [
        { assets: many, before: { categories: [] }, after: listed },
        { assets: many, before: listed, after: { categories: [] } }
      ])
    })
  )

  it.effect("categories are returned with all their descendants", () =>
    Effect.gen(function* () {
      const categories = yield* AssetCategories
      const [a, b] = [yield* category("top"), yield* category("sibling")]
      const below = yield* category("below", a)
      const deeper = yield* category("deeper", below)
      assert.sameMembers([...(yield* categories.withDescendants([a, b]))], [a, b, below, deeper])
      assert.sameMembers([...(yield* categories.withDescendants([below]))], [below, deeper])
      assert.sameMembers([...(yield* categories.withDescendants([deeper, a]))], [a, below, deeper])
      assert.deepStrictEqual(yield* categories.withDescendants([AssetCategoryId.make(unknownUuid)]), [])
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
