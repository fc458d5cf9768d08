import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import type { ApiKeyId } from "../../../src/domain/keys/ApiKey.ts"
import { sortable } from "../../../src/domain/keys/ApiKey.ts"
import type { Permission } from "../../../src/domain/keys/Permission.ts"
import { noPrecondition } from "../../../src/domain/query/Precondition.ts"
import { ApiKeys } from "../../../src/repositories/keys/ApiKeys.ts"
import type { NewKey } from "../../../src/repositories/keys/ApiKeyWrites.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"

const services = ApiKeys.layer.pipe(Layer.provideMerge(Postgres.sql), Layer.provide(settings()))

let made = 0
const newKey = (change: Partial<NewKey> = {}): NewKey => {
  const id = String(++made).padStart(22, "0")
  const permissions: ReadonlyArray<Permission> = ["read:locations", "update:locations"]
  return {
    id,
    prefix: `wp_${id}`,
    secretHash: Uint8Array.from({ length: 32 }, () => made),
    name: `Key ${made}`,
    permissions,
    expiresAt: undefined,
    createdBy: undefined,
    ...change
  }
}
const insert = (change: Partial<NewKey> = {}) => Effect.flatMap(ApiKeys, (keys) => keys.insert(newKey(change)))
const read = (uuid: ApiKeyId) =>
  Effect.flatMap(ApiKeys, (keys) =>
    Effect.map(keys.get(uuid), (json) => JSON.parse(json) as Readonly<Record<string, unknown>>)
  )
const at = (sql: string, uuid: ApiKeyId) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe(`update api_keys set ${sql} where uuid = $1`, [uuid]))
const seconds = (iso: unknown) => Math.round((Date.parse(String(iso)) - Date.now()) / 1000)
/** How far a time that is read can be from what was written, in seconds, on a busy machine. */
const tolerance = 300
const stateOf = (id: string) =>
  Effect.flatMap(ApiKeys, (keys) =>
    Effect.map(keys.findById(id), (found) => Option.map(found, ({ expired, revoked }) => ({ expired, revoked })))
  )

/** The repository, whose reads outside of a transaction fail. */
const withoutReads = ApiKeys.layer.pipe(
  Layer.provide(
    Layer.effect(
      Sql,
      Effect.map(Sql, (sql) => Sql.of({ ...sql, cheap: () => Effect.die("No connection for a read") }))
    )
  ),
  Layer.provideMerge(Postgres.sql),
  Layer.provide(settings())
)

layer(withoutReads, { excludeTestServices: true })("repository of API keys without reads", (it) => {
  it.effect("a key that is stored is returned, and nothing is read after the commit", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const first = Option.getOrThrow(yield* keys.insertFirst(newKey()))
      const key = newKey({ expiresAt: "2999-01-01T00:00:00.000Z", createdBy: first.uuid })
      const { createdAt, ...stored } = yield* keys.insert(key)
      assert.closeTo(seconds(DateTime.formatIso(createdAt)), 0, tolerance)
      assert.deepStrictEqual(
        { ...stored, expiresAt: DateTime.formatIso(stored.expiresAt!) },
        {
          uuid: stored.uuid,
          name: key.name,
          prefix: key.prefix,
          permissions: key.permissions,
          expiresAt: key.expiresAt!
        }
      )
      const successor = newKey()
      const replaced = Option.getOrThrow(yield* keys.replace(stored.uuid, 60, successor, noPrecondition))
      assert.deepInclude(replaced, { name: successor.name, prefix: successor.prefix })
      assert.notProperty(replaced, "expiresAt")
    })
  )
})

layer(services, { excludeTestServices: true })("repository of API keys", (it) => {
  it.effect("of concurrent requests for the first key exactly one creates it", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const results = yield* Effect.all(
        Array.from({ length: 8 }, () => keys.insertFirst(newKey())),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(results.filter(Option.isSome), 1)
      assert.isTrue(Option.isNone(yield* keys.insertFirst(newKey())))
      const { pooled } = yield* Sql
      assert.deepStrictEqual(yield* pooled`select count(*)::int as count from api_keys`, [{ count: 1 }])
    })
  )

  it.effect("a key is found by its id with its hash, and read without it", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const key = newKey({ expiresAt: "2999-01-01T00:00:00.000Z" })
      const { uuid } = yield* keys.insert(key)
      const found = Option.getOrThrow(yield* keys.findById(key.id))
      assert.deepStrictEqual([...found.secretHash], [...key.secretHash])
      assert.deepInclude(found, { uuid, revoked: false, expired: false })
      const { permissions, share } = yield* keys.calling(uuid)
      assert.deepStrictEqual([[...permissions], share], [key.permissions, uuid])
      assert.isTrue(Option.isNone(yield* keys.findById("0".repeat(22))))
      const { createdAt, ...answered } = yield* read(uuid)
      assert.deepStrictEqual(answered, {
        uuid,
        name: key.name,
        prefix: key.prefix,
        permissions: key.permissions,
        expiresAt: key.expiresAt
      })
      assert.closeTo(seconds(createdAt), 0, tolerance)
    })
  )

  it.effect("a key is reported as expired or revoked, by the clock of the database", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const key = newKey()
      const { uuid } = yield* keys.insert(key)
      yield* at("expires_at = now() + interval '1 hour'", uuid)
      assert.deepStrictEqual(yield* stateOf(key.id), Option.some({ expired: false, revoked: false }))
      yield* at("expires_at = now() - interval '1 millisecond'", uuid)
      assert.deepStrictEqual(yield* stateOf(key.id), Option.some({ expired: true, revoked: false }))
      yield* keys.revoke(uuid, noPrecondition)
      assert.deepStrictEqual(yield* stateOf(key.id), Option.some({ expired: true, revoked: true }))
    })
  )

  it.effect("revoking a key again keeps the first time, and revoking an unknown key does nothing", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const key = newKey()
      const { uuid } = yield* keys.insert(key)
      assert.deepInclude(yield* keys.revoke(uuid, noPrecondition), { ids: [key.id], changed: true })
      const { revokedAt } = yield* read(uuid)
      yield* Effect.sleep("5 millis")
      assert.deepInclude(yield* keys.revoke(uuid, noPrecondition), { ids: [key.id], changed: false })
      assert.strictEqual((yield* read(uuid))["revokedAt"], revokedAt)
      const unknown = keys.revoke("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30" as ApiKeyId, noPrecondition)
      assert.strictEqual((yield* Effect.flip(unknown))._tag, "ApiKeyNotFoundError")
    })
  )

  it.effect("a replaced key expires after the overlap, but not later than its own expiry", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const [endless, short, none] = yield* Effect.all([insert(), insert(), insert()])
      yield* at("expires_at = now() + interval '20 minutes'", short.uuid)
      const successor = Option.getOrThrow(yield* keys.replace(endless.uuid, 3600, newKey(), noPrecondition))
      const old = yield* read(endless.uuid)
      assert.strictEqual(old["replacedByUuid"], successor.uuid)
      assert.closeTo(seconds(old["expiresAt"]), 3600, tolerance)
      assert.isTrue(Option.isSome(yield* keys.replace(short.uuid, 3600, newKey(), noPrecondition)))
      assert.closeTo(seconds((yield* read(short.uuid))["expiresAt"]), 1200, tolerance)
      yield* keys.replace(none.uuid, 0, newKey(), noPrecondition)
      assert.isAtMost(seconds((yield* read(none.uuid))["expiresAt"]), 0)
    })
  )

  it.effect("only an active key can be replaced, and only once", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const [raced, revoked, expired] = yield* Effect.all([insert(), insert(), insert()])
      const results = yield* Effect.all(
        Array.from({ length: 6 }, () => keys.replace(raced.uuid, 60, newKey(), noPrecondition)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(results.filter(Option.isSome), 1)
      yield* keys.revoke(revoked.uuid, noPrecondition)
      yield* at("expires_at = now()", expired.uuid)
      const before = made
      for (const { uuid } of [raced, revoked, expired])
        assert.isTrue(Option.isNone(yield* keys.replace(uuid, 60, newKey(), noPrecondition)))
      for (let id = before + 1; id <= made; id++)
        assert.isTrue(
          Option.isNone(yield* keys.findById(String(id).padStart(22, "0"))),
          "the rejected successor is not stored"
        )
    })
  )

  it.effect("the last use of a key is updated at most once a minute", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const [used, recent, unused] = yield* Effect.all([insert(), insert(), insert()])
      const { pooled } = yield* Sql
      const agesOf = (uuid: ApiKeyId) => pooled`
        select extract(epoch from now() - last_used_at)::int as seconds from api_keys where uuid = ${uuid}`
      // The time of a transaction stands still.
      const ages = yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* at("last_used_at = now() - interval '59 seconds'", recent.uuid)
          yield* keys.touch([used.uuid, recent.uuid])
          return [yield* agesOf(used.uuid), yield* agesOf(recent.uuid)]
        })
      )
      assert.deepStrictEqual(ages, [[{ seconds: 0 }], [{ seconds: 59 }]])
      assert.closeTo(seconds((yield* read(used.uuid))["lastUsedAt"]), 0, tolerance)
      assert.notProperty(yield* read(unused.uuid), "lastUsedAt")
      yield* at("last_used_at = now() - interval '1 hour 1 minute'", used.uuid)
      yield* Effect.all([keys.touch([used.uuid]), keys.touch([used.uuid]), keys.touch([])], {
        concurrency: "unbounded"
      })
      assert.closeTo(seconds((yield* read(used.uuid))["lastUsedAt"]), 0, tolerance)
      const later = yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* at("last_used_at = now() - interval '61 seconds'", used.uuid)
          yield* keys.touch([used.uuid])
          return yield* agesOf(used.uuid)
        })
      )
      assert.deepStrictEqual(later, [{ seconds: 0 }])
    })
  )

  it.effect("lists sort by every sortable field, with missing values last and the exact total", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { pooled } = yield* Sql
      yield* Effect.forEach(Array.from({ length: 20 }), () =>
        insert({
          name: `k${made % 4}`,
          expiresAt: made % 3 === 0 ? undefined : `2999-01-0${1 + (made % 5)}T00:00:00.000Z`
        })
      )
      for (const sortBy of sortable) {
        for (const sortOrder of ["asc", "desc"] as const) {
          const column =
            sortBy === "name"
              ? `name collate "und-x-icu"`
              : sortBy.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
          const expected = yield* pooled.unsafe<{ readonly uuid: string }>(
            `select uuid from api_keys order by ${column} ${sortOrder} nulls last, uuid ${sortOrder}`
          )
          const pages = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], (page) =>
            keys.list({ sortBy, sortOrder, limit: 5, page })
          )
          const answered = pages.flatMap(
            ({ data }) => JSON.parse(data) as ReadonlyArray<Readonly<Record<string, unknown>>>
          )
          assert.deepStrictEqual(
            answered.map(({ uuid }) => uuid),
            expected.map(({ uuid }) => uuid),
            `${sortBy} ${sortOrder}`
          )
          assert.strictEqual(pages[0]?.pagination.total, expected.length)
          assert.isTrue(answered.every((key) => !("secretHash" in key) && !("id" in key)))
        }
      }
    })
  )
})
