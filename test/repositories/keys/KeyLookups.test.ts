import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import type { ApiKeyId } from "../../../src/domain/keys/ApiKey.ts"
import { CurrentShare } from "../../../src/domain/keys/Share.ts"
import { ApiKeys } from "../../../src/repositories/keys/ApiKeys.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"
import { explained, filled, nodes, rowsOf } from "../../sql/Explained.ts"

const services = ApiKeys.layer.pipe(Layer.provideMerge(Postgres.sql), Layer.provide(settings()))

/** The uuid of the creator of many keys, and those of its 21st and last key. */
const [creator, early, late] = [0, 21, 20_000].map(
  (key) => `0198d9e4-0000-7000-8000-${String(key).padStart(12, "0")}` as ApiKeyId
)

const multiplied = ApiKeys.layer.pipe(
  Layer.provideMerge(
    filled([
      `insert into api_keys (uuid, id, prefix, secret_hash, name, permissions, created_by_key_uuid)
        select ('0198d9e4-0000-7000-8000-' || lpad(key::text, 12, '0'))::uuid, key::text, 'wp_' || key, sha256(key::text::bytea),
          'Key', '{create:api-keys}', case when key > 0 then '${creator}'::uuid end
        from generate_series(0, 20000) key`,
      "vacuum analyze api_keys"
    ])
  ),
  Layer.provide(settings())
)

layer(multiplied, { excludeTestServices: true })("the share of a key", (it) => {
  it.effect("of the keys of its creator it reads no more than have shares of their own", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      for (const key of [early!, late!]) {
        assert.strictEqual((yield* keys.calling(key)).share, creator)
        const plan = yield* explained(keys.calling(key), { run: true })
        const read = nodes(plan).filter((node) => node["Relation Name"] === "api_keys")
        assert.isAtMost(
          read.reduce((sum, node) => sum + rowsOf(node), 0),
          30
        )
      }
    })
  )
})

layer(services, { excludeTestServices: true })("lookups of keys", (it) => {
  it.effect("the lookup of one client does not wait behind many of another, and a known key waits behind neither", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { pooled } = yield* Sql
      const ended: Array<string> = []
      const lookup = (client: string, find: Effect.Effect<unknown>) =>
        find.pipe(
          Effect.andThen(Effect.sync(() => ended.push(client))),
          Effect.provideService(CurrentShare, { id: client, weight: 1, isAlone: () => true }),
          Effect.forkChild({ startImmediately: true })
        )
      // Lookups begin while the table is locked, so that all of them wait at once.
      const isLocked = yield* Deferred.make<void>()
      const unlock = yield* Deferred.make<void>()
      const lock = pooled`lock table api_keys in access exclusive mode`.pipe(
        Effect.andThen(Deferred.succeed(isLocked, undefined)),
        Effect.andThen(Deferred.await(unlock)),
        pooled.withTransaction,
        Effect.orDie
      )
      const locked = yield* Effect.forkChild(lock)
      yield* Deferred.await(isLocked)
      const fibers = yield* Effect.forEach(Array.from({ length: 40 }), (_, index) =>
        lookup("busy", keys.findNewById(`id ${index}`))
      )
      fibers.push(yield* lookup("calm", keys.findNewById("another")))
      fibers.push(yield* lookup("known", keys.findById("known")))
      yield* Deferred.succeed(unlock, undefined)
      yield* Fiber.joinAll([locked, ...fibers])
      assert.lengthOf(ended, 42)
      assert.isBelow(ended.indexOf("known"), 10)
      assert.isBelow(ended.indexOf("calm"), 10)
    })
  )
})
