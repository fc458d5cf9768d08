import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { eventually } from "../../support/Until.ts"
import * as TestServer from "../../support/TestServer.ts"
import { expectError, send, unique } from "../../support/requests/Requests.ts"
import {
  addBacklog,
  createWebhook,
  deletesInParts,
  readWebhook,
  rowsOf
} from "../../support/requests/WebhookRequests.ts"

const keys = "/v1/api-keys"
const permissions = ["create:api-keys", "read:locations"]
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

interface Made {
  readonly uuid: string
  readonly key: string
  readonly expiresAt?: string
}

/** Creates a key; with `by`, with that key. */
const ask = (more: object = {}, by?: Made) =>
  send("POST", keys, { body: { name: unique("key"), permissions, ...more }, ...(by && { key: by.key }) })
const make = Effect.fnUntraced(function* (more: object = {}, by?: Made) {
  const { body, status, text } = yield* ask(more, by)
  assert.strictEqual(status, 201, text)
  return body.data as Made
})
const rotate = (uuid: string, by?: Made, body: object = {}) =>
  send("POST", `${keys}/${uuid}/rotate`, { body, ...(by && { key: by.key }) })
const statusOf = ({ key }: Made) => Effect.map(send("GET", "/v1/me", { key }), ({ status }) => status)
const statusesOf = (made: ReadonlyArray<Made>) => Effect.forEach(made, statusOf)
const revoke = (uuid: string, query = "") => send("DELETE", `${keys}/${uuid}${query}`)

layer(TestServer.layer(), { excludeTestServices: true })("API keys and their descendants", (it) => {
  describe("Keys that create keys", () => {
    it.effect("a key that expires creates keys that expire with it or earlier", () =>
      Effect.gen(function* () {
        const expiresAt = inAnHour()
        const parent = yield* make({ expiresAt })
        assert.strictEqual((yield* make({}, parent)).expiresAt, expiresAt)
        assert.strictEqual((yield* make({ expiresAt: null }, parent)).expiresAt, expiresAt)
        assert.strictEqual((yield* make({ expiresAt }, parent)).expiresAt, expiresAt)
        const earlier = new Date(Date.parse(expiresAt) - 1).toISOString()
        assert.strictEqual((yield* make({ expiresAt: earlier }, parent)).expiresAt, earlier)
        for (const later of [new Date(Date.parse(expiresAt) + 1).toISOString(), "9999-12-31T23:59:59.999Z"]) {
          const { issues } = expectError(yield* ask({ expiresAt: later }, parent), 400, "InvalidRequestError")
          assert.deepStrictEqual(issues, [
            {
              in: "body",
              path: "expiresAt",
              code: "outOfRange",
              message: `expiresAt must be ${expiresAt} or earlier: the calling key expires then`
            }
          ])
        }
      })
    )

    it.effect("a key without expiry creates keys with any expiry, or with none", () =>
      Effect.gen(function* () {
        const parent = yield* make()
        assert.notProperty(yield* make({}, parent), "expiresAt")
        const expiresAt = "9999-12-31T23:59:59.999Z"
        assert.strictEqual((yield* make({ expiresAt }, parent)).expiresAt, expiresAt)
      })
    )

    it.effect(
      "a successor keeps the expiry of its predecessor, and expires with the key that rotates at the latest",
      () =>
        Effect.gen(function* () {
          const expiresAt = inAnHour()
          const own = yield* make({ expiresAt })
          assert.strictEqual((yield* rotate(own.uuid, own)).body.data.expiresAt, expiresAt)
          const [parent, endless, short] = yield* Effect.all([make({ expiresAt }), make(), make({ expiresAt })])
          assert.strictEqual((yield* rotate(endless.uuid, parent)).body.data.expiresAt, expiresAt)
          assert.strictEqual((yield* rotate(short.uuid)).body.data.expiresAt, expiresAt)
        })
    )

    it.effect("a key that was revoked while its request waited creates no key", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [creator, other] = yield* Effect.all([make(), make()])
        const name = unique("late")
        const [updated, commit] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const update = pooled`update api_keys set revoked_at = now() where uuid = ${creator.uuid}`
        const held = Effect.andThen(
          update,
          Effect.andThen(Deferred.succeed(updated, undefined), Deferred.await(commit))
        )
        const transaction = yield* Effect.forkChild(pooled.withTransaction(held))
        yield* Deferred.await(updated)
        const requests = yield* Effect.forkChild(
          Effect.all([ask({ name }, creator), rotate(other.uuid, creator)], { concurrency: 2 })
        )
        const waiting = pooled<{ readonly count: number }>`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%from api_keys where uuid = any%'`
        yield* eventually("both requests wait", waiting, ([row]) => row!.count === 2)
        yield* Deferred.succeed(commit, undefined)
        yield* Fiber.join(transaction)
        for (const answer of yield* Fiber.join(requests)) {
          assert.strictEqual(expectError(answer, 401, "UnauthorizedError").reason, "revoked")
        }
        assert.strictEqual((yield* send("GET", `${keys}?filter=name:equals:${name}`)).body.pagination.total, 0)
        assert.strictEqual(yield* statusOf(other), 200)
      })
    )
  })

  describe("Rotation of another key", () => {
    it.effect("a rotation of another key with an overlap of less than a day needs delete:api-keys", () =>
      Effect.gen(function* () {
        const [victim, rotator] = yield* Effect.all([make(), make()])
        for (const overlapSeconds of [0, 86_399]) {
          const answer = yield* rotate(victim.uuid, rotator, { overlapSeconds })
          assert.deepStrictEqual(expectError(answer, 403, "MissingPermissionsError").missing, ["delete:api-keys"])
        }
        assert.notProperty((yield* send("GET", `${keys}/${victim.uuid}`)).body.data, "replacedByUuid")
        assert.strictEqual((yield* rotate(victim.uuid, rotator, { overlapSeconds: 86_400 })).status, 201)
        const revoker = yield* make({ permissions: [...permissions, "delete:api-keys"] })
        const second = yield* make()
        assert.strictEqual((yield* rotate(second.uuid, revoker, { overlapSeconds: 0 })).status, 201)
        assert.strictEqual(yield* statusOf(second), 401)
      })
    )

    it.effect("a key rotates itself with any overlap", () =>
      Effect.gen(function* () {
        const own = yield* make()
        assert.strictEqual((yield* rotate(own.uuid, own, { overlapSeconds: 0 })).status, 201)
        assert.strictEqual(yield* statusOf(own), 401)
      })
    )
  })

  const bear = (parent: Made) => ask({}, parent)
  const renew = (own: Made) => rotate(own.uuid, own)

  /** How many keys descend from a key, itself included, and how many of them are not revoked. */
  const keysOf = ({ uuid }: Made) =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [row] = yield* pooled<{ readonly all: number; readonly active: number }>`
      with recursive tree as (select ${uuid}::uuid as uuid
        union select k.uuid from api_keys k join tree on k.created_by_key_uuid = tree.uuid)
      select count(*)::int as all, count(*) filter (where revoked_at is null)::int as active
      from tree join api_keys using (uuid)`
      return row!
    })

  /** Derives a key from a key, and from that the next, until the request is rejected. */
  const grow = (derive: typeof bear, from: Made, left: number): Effect.Effect<void, never, TestServer.TestServer> =>
    left === 0
      ? Effect.void
      : Effect.flatMap(derive(from), ({ body, status }) =>
          status === 201 ? grow(derive, body.data, left - 1) : Effect.void
        )

  describe("Revocation with descendants", () => {
    /** A key, its child, its grandchild, its successor and a key of the successor. */
    const makeTree = Effect.gen(function* () {
      const root = yield* make()
      const child = yield* make({}, root)
      const grandchild = yield* make({}, child)
      const successor = (yield* rotate(root.uuid, root)).body.data as Made
      const late = yield* make({}, successor)
      return [root, child, grandchild, successor, late] as const
    })

    it.effect("descendants=true also revokes every key that the key created, transitively", () =>
      Effect.gen(function* () {
        const sibling = yield* make()
        const tree = yield* makeTree
        const rotatedByAnother = (yield* rotate(tree[1].uuid)).body.data as Made
        assert.deepStrictEqual(yield* statusesOf(tree), [200, 200, 200, 200, 200])
        const answer = yield* revoke(tree[0].uuid, "?descendants=true")
        assert.deepStrictEqual(answer.body, { _tag: "Success", data: { uuid: tree[0].uuid } })
        assert.deepStrictEqual(yield* statusesOf(tree), [401, 401, 401, 401, 401])
        assert.deepStrictEqual(yield* statusesOf([sibling, rotatedByAnother]), [200, 200])
      })
    )

    it.effect("without descendants=true only the key is revoked, and its descendants can be revoked later", () =>
      Effect.gen(function* () {
        const tree = yield* makeTree
        for (const query of ["", "?descendants=false"]) {
          assert.strictEqual((yield* revoke(tree[0].uuid, query)).status, 200)
          assert.deepStrictEqual(yield* statusesOf(tree), [401, 200, 200, 200, 200])
        }
        yield* revoke(tree[1].uuid)
        const { revokedAt } = (yield* send("GET", `${keys}/${tree[1].uuid}`)).body.data
        assert.strictEqual((yield* revoke(tree[0].uuid, "?descendants=true")).status, 200)
        assert.deepStrictEqual(yield* statusesOf(tree), [401, 401, 401, 401, 401])
        assert.strictEqual((yield* send("GET", `${keys}/${tree[1].uuid}`)).body.data.revokedAt, revokedAt)
      })
    )

    it.effect("an unknown key, another value of descendants or a failed precondition revokes nothing", () =>
      Effect.gen(function* () {
        const tree = yield* makeTree
        const path = `${keys}/${tree[0].uuid}?descendants=true`
        expectError(
          yield* revoke("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", "?descendants=true"),
          404,
          "ApiKeyNotFoundError"
        )
        expectError(yield* revoke(tree[0].uuid, "?descendants=yes"), 400, "InvalidRequestError")
        const failed = yield* send("DELETE", path, { headers: { "if-match": '"other"' } })
        expectError(failed, 412, "PreconditionFailedError")
        assert.deepStrictEqual(yield* statusesOf(tree), [200, 200, 200, 200, 200])
        const etag = (yield* send("GET", `${keys}/${tree[0].uuid}`)).headers.get("etag")!
        assert.strictEqual((yield* send("DELETE", path, { headers: { "if-match": etag } })).status, 200)
        assert.deepStrictEqual(yield* statusesOf(tree), [401, 401, 401, 401, 401])
      })
    )

    it.effect(
      "a key that multiplied stays revoked with a part of its keys when the rest fails, which a repetition revokes",
      () =>
        Effect.gen(function* () {
          const { pooled } = yield* Sql
          const root = yield* make()
          const child = yield* make({}, root)
          const late = unique("late")
          yield* pooled`
        insert into api_keys (uuid, id, prefix, secret_hash, name, permissions, created_by_key_uuid)
          select gen_random_uuid(), 'many-' || key, 'wp_' || key, sha256(''), 'Many', '{create:api-keys}', ${child.uuid}::uuid
          from generate_series(1, 6000) key`
          yield* pooled`
        insert into api_keys (uuid, id, prefix, secret_hash, name, permissions, created_by_key_uuid)
          select gen_random_uuid(), ${late}::text, 'wp_late', sha256(''), 'Late', '{}', uuid from api_keys where id = 'many-6000'`
          yield* pooled.unsafe(`
        create function fail() returns trigger language plpgsql as $$
        begin raise exception 'canceled' using errcode = '57014'; end $$`)
          yield* pooled.unsafe(`
        create trigger fail before update on api_keys for each row when (new.id = '${late}') execute function fail()`)
          const path = `${keys}/${root.uuid}?descendants=true`
          const all = yield* send("DELETE", path, { headers: { "idempotency-key": unique("key") } })
          assert.strictEqual(all.status, 503)
          assert.deepStrictEqual(yield* keysOf(root), { all: 6003, active: 6003 })
          assert.strictEqual((yield* send("DELETE", path)).status, 503)
          yield* eventually("both keys end", statusesOf([root, child]), (statuses) => statuses.join() === "401,401")
          assert.isBelow((yield* keysOf(root)).active, 1010)
          yield* pooled.unsafe("drop function fail() cascade")
          assert.strictEqual((yield* send("DELETE", path)).status, 200)
          assert.deepStrictEqual(yield* keysOf(root), { all: 6003, active: 0 })
        })
    )

    it.effect("a key whose webhook has many waiting events is revoked", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        yield* deletesInParts(2000)
        const root = yield* make()
        const { uuid } = yield* createWebhook({ url: "http://127.0.0.1:4999", types: ["location.*"] })
        yield* pooled`update webhooks set created_by = ${root.uuid}::uuid where uuid = ${uuid}::uuid`
        yield* addBacklog(uuid, 6000)
        assert.strictEqual((yield* revoke(root.uuid, "?descendants=true")).status, 200)
        assert.strictEqual(yield* statusOf(root), 401)
        assert.strictEqual((yield* readWebhook(uuid)).state, "paused")
        yield* eventually("the events are removed", rowsOf(uuid), ({ dropped, queue }) => dropped + queue === 0)
      })
    )

    it.effect("a chain of keys in which each created the next is revoked as a whole", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const root = yield* make()
        yield* pooled`
        insert into api_keys (uuid, id, prefix, secret_hash, name, permissions, created_by_key_uuid)
          select ('0198d9e4-0000-7000-8000-' || lpad(key::text, 12, '0'))::uuid, 'chain-' || key, 'wp_' || key, sha256(''), 'Chain',
            '{}', case key when 1 then ${root.uuid} else '0198d9e4-0000-7000-8000-' || lpad((key - 1)::text, 12, '0') end::uuid
          from generate_series(1, 250) key`
        assert.strictEqual((yield* revoke(root.uuid, "?descendants=true")).status, 200)
        assert.deepStrictEqual(yield* keysOf(root), { all: 251, active: 0 })
      })
    )

    it.effect("no key survives that a descendant creates or rotates while the root is revoked", () =>
      Effect.gen(function* () {
        for (let round = 0; round < 5; round++) {
          const root = yield* make()
          const children = yield* Effect.replicateEffect(make({}, root), 3)
          const growing = yield* Effect.forkChild(
            Effect.forEach(children, (key, index) => grow(index === 0 ? renew : bear, key, 100), {
              concurrency: "unbounded",
              discard: true
            })
          )
          yield* eventually("the keys create keys", keysOf(root), ({ all }) => all > 8)
          assert.strictEqual((yield* revoke(root.uuid, "?descendants=true")).status, 200)
          yield* Fiber.join(growing)
          assert.strictEqual((yield* keysOf(root)).active, 0)
        }
      })
    )
  })
})
