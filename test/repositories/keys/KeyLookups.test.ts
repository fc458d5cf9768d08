import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import type { ApiKeyId } from "../../../src/domain/keys/ApiKey.ts"
import { noPrecondition } from "../../../src/domain/query/Precondition.ts"
import { CurrentShare } from "../../../src/domain/keys/Share.ts"
import { ApiKeys } from "../../../src/repositories/keys/ApiKeys.ts"
import type { NewKey } from "../../../src/repositories/keys/ApiKeyWrites.ts"
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

interface Key {
  /** The number of the key that created it, which is lower. */
  readonly creator?: number
  readonly successor?: number
  readonly expires?: boolean
}

interface Family {
  readonly name: string
  readonly count: number
  readonly keyOf: (key: number) => Key
  /** The number of the key in whose share a key counts. */
  readonly shareOf: (key: number) => number
}

/** The share of a key whose creators do not expire: that of the first twenty keys in which the line of its creators begins. */
const shareIn = (creatorOf: (key: number) => number) => {
  const shareOf = (key: number): number => (key <= 20 ? key : shareOf(creatorOf(key)))
  return shareOf
}

/** The first key has number 0 and no creator. */
const familyOf = (name: string, count: number, creatorOf: (key: number) => number): Family => ({
  name,
  count,
  keyOf: (key) => (key === 0 ? {} : { creator: creatorOf(key) }),
  shareOf: shareIn(creatorOf)
})

const families: ReadonlyArray<Family> = [
  familyOf("twenty keys that each created twenty", 421, (key) => Math.floor((key - 1) / 20)),
  familyOf("keys that each created three more", 100, (key) => Math.floor((key - 1) / 3)),
  familyOf("keys that each created the next", 41, (key) => key - 1),
  {
    name: "keys from before and after a rotation",
    count: 40,
    keyOf: (key) => (key === 0 ? { successor: 1, expires: true } : { creator: key <= 10 ? 0 : 1 }),
    shareOf: (key) => (key === 1 || key > 20 ? 0 : key)
  },
  {
    name: "keys besides those of an expiring key",
    count: 50,
    keyOf: (key) => (key === 0 ? {} : { creator: key === 1 || key > 31 ? 0 : 1, expires: key <= 31 }),
    shareOf: (key) => (key <= 31 ? Math.min(key, 1) : key)
  }
]

/** Keys that each created the next. */
const line = familyOf("", 60, (key) => key - 1)

/** A key that rotates itself, and its successors that do so too. */
const rotated: Family = {
  name: "",
  count: 150,
  keyOf: (key) => ({
    ...(key === 0 ? {} : { creator: key - 1 }),
    ...(key === 149 ? {} : { successor: key + 1, expires: true })
  }),
  shareOf: () => 0
}

const uuidIn = (family: Family, key: number) => {
  const tree = String([...families, line, rotated].indexOf(family))
  return `0198d9e4-${tree.padStart(4, "0")}-7000-8000-${String(key).padStart(12, "0")}` as ApiKeyId
}

const rowsIn = (family: Family) => {
  const keys = Array.from({ length: family.count }, (_, key) => family.keyOf(key))
  /** The predecessors of a key, the first one last. */
  const predecessorsOf = (key: number): ReadonlyArray<number> => {
    const predecessor = keys.findIndex(({ successor }) => successor === key)
    return predecessor === -1 ? [] : [predecessor, ...predecessorsOf(predecessor)]
  }
  return keys.map(({ creator, expires, successor }, key) => {
    const uuid = uuidIn(family, key)
    const predecessors = predecessorsOf(key)
    return {
      uuid,
      created_by_key_uuid: creator === undefined ? null : uuidIn(family, creator),
      replaced_by_uuid: successor === undefined ? null : uuidIn(family, successor),
      first_uuid: predecessors.length === 0 ? null : uuidIn(family, predecessors.at(-1)!),
      rotations: predecessors.length,
      expires_at: expires === true ? "2099-01-01T00:00:00Z" : null
    }
  })
}

const related = ApiKeys.layer.pipe(
  Layer.provideMerge(
    filled([
      `insert into api_keys
          (uuid, id, prefix, secret_hash, name, permissions, created_by_key_uuid, replaced_by_uuid, first_uuid, rotations, expires_at)
        select uuid, uuid::text, 'wp_' || uuid, sha256(uuid::text::bytea), 'Key', '{create:api-keys}', created_by_key_uuid,
          replaced_by_uuid, first_uuid, rotations, expires_at
        from jsonb_to_recordset('${JSON.stringify([...families, line, rotated].flatMap(rowsIn))}')
          as key (uuid uuid, created_by_key_uuid uuid, replaced_by_uuid uuid, first_uuid uuid, rotations int, expires_at timestamptz)`
    ])
  )
)

/** One key of a line of rotations has a weight; the other text is no uuid. */
const weights = settings({ KEY_WEIGHTS: `${uuidIn(rotated, 60)}=2,${"-".repeat(36)}=3` })

const sharesOf = (family: Family, ...numbers: ReadonlyArray<number>) =>
  Effect.flatMap(ApiKeys, (keys) =>
    Effect.forEach(numbers, (key) => Effect.map(keys.calling(uuidIn(family, key)), ({ share }) => share))
  )

layer(Layer.provide(related, settings()), { excludeTestServices: true })(
  "the shares of keys that create keys",
  (it) => {
    it.effect.each(families)(
      "of $name the first twenty have shares of their own, and the others that of their creator",
      (family) =>
        Effect.gen(function* () {
          const keys = yield* ApiKeys
          for (let key = 0; key < family.count; key++) {
            const { share } = yield* keys.calling(uuidIn(family, key))
            assert.strictEqual(share, uuidIn(family, family.shareOf(key)), `${key}`)
          }
        })
    )

    it.effect("a key has the share of the first of its predecessors, however many there are", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual([...new Set(yield* sharesOf(rotated, 0, 1, 50, 100, 101, 149))], [uuidIn(rotated, 0)])
      })
    )

    it.effect("keys with more than twenty creators that have no shares of their own have one together", () =>
      Effect.gen(function* () {
        const far = new Set(yield* sharesOf(line, 41, 50, 59))
        assert.strictEqual(far.size, 1)
        assert.notInclude([...far], uuidIn(line, 20))
      })
    )
  }
)

layer(Layer.provide(related, weights), { excludeTestServices: true })("the share of a key with a weight", (it) => {
  it.effect("a key with a weight has a share of its own, as have its successors, and its predecessors have not", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* sharesOf(rotated, 0, 59, 60, 61, 149),
        [0, 0, 60, 60, 60].map((key) => uuidIn(rotated, key))
      )
    })
  )
})

const newKey = (id: string, change: Partial<NewKey> = {}): NewKey => ({
  id,
  prefix: `wp_${id}`,
  secretHash: new Uint8Array(32),
  name: id,
  permissions: ["create:api-keys"],
  expiresAt: undefined,
  createdBy: undefined,
  ...change
})

layer(services, { excludeTestServices: true })("the shares of keys of an expiring key", (it) => {
  it.effect("shares of keys of an expiring key do not change when it is rotated, and neither do those of others", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const insert = (id: string, createdBy?: ApiKeyId, change: Partial<NewKey> = {}) =>
        Effect.map(keys.insert(newKey(id, { createdBy, ...change })), ({ uuid }) => uuid)
      const shares = (made: ReadonlyArray<ApiKeyId>) =>
        Effect.forEach(made, (uuid) => Effect.map(keys.calling(uuid), ({ share }) => share))
      const root = yield* insert("root")
      const expiring = yield* insert("expiring", root, { expiresAt: "2999-01-01T00:00:00.000Z" })
      const its = yield* Effect.forEach(Array.from({ length: 20 }), (_, index) => insert(`its-${index}`, expiring))
      const others = yield* Effect.forEach(Array.from({ length: 19 }), (_, index) => insert(`other-${index}`, root))
      const made = [...its, ...others]
      const before = yield* shares(made)
      assert.deepStrictEqual(before, [...its.map(() => expiring), ...others])
      const successor = Option.getOrThrow(
        yield* keys.replace(expiring, 60, newKey("successor", { createdBy: expiring }), noPrecondition)
      )
      assert.deepStrictEqual(yield* shares(made), before)
      const later = [yield* insert("of-the-successor", successor.uuid), yield* insert("of-the-old-key", expiring)]
      assert.deepStrictEqual(yield* shares([successor.uuid, ...later]), [expiring, expiring, expiring])
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
          Effect.provideService(CurrentShare, { id: client, weight: 1, isAlone: () => false }),
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
