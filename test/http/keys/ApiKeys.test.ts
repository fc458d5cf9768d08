import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { createHash } from "node:crypto"
import { Sql } from "../../../src/sql/Sql.ts"
import type { Permission } from "../../../src/domain/keys/Permission.ts"
import * as TestServer from "../../support/TestServer.ts"
import { checksum, expectError, keyOf, send, unique, unknownKey, unknownUuid } from "../../support/requests/Requests.ts"
import { atBest } from "../../support/Until.ts"

const keys = "/v1/api-keys"
const form = /^wp_([0-9A-Za-z]{22})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

interface Created {
  readonly uuid: string
  readonly key: string
  readonly prefix: string
  readonly [member: string]: unknown
}

const make = Effect.fnUntraced(function* (permissions: ReadonlyArray<string>, more: object = {}) {
  const answer = yield* send("POST", keys, { body: { name: unique("key"), permissions, ...more } })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data as Created
})

const me = (authorization: string) => send("GET", "/v1/me", { key: authorization, headers: { "x-request-id": "same" } })

/** The reason of the 401 for an Authorization header, or another status. */
const reasonOf = (authorization: string | null) =>
  Effect.map(send("GET", "/v1/me", { key: authorization }), ({ body, headers, status }) => {
    if (status !== 401) return status
    assert.strictEqual(body._tag, "UnauthorizedError")
    assert.strictEqual(headers.get("www-authenticate"), "ApiKey")
    return body.reason as string
  })

layer(TestServer.layer(), { excludeTestServices: true })("API keys", (it) => {
  it.effect("an API key has the format of the contract, and only a hash of its secret is stored", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      for (let turn = 0; turn < 20; turn++) {
        const created = yield* make(["read:locations"])
        const [, id, secret, sum] = form.exec(created.key) ?? []
        assert.strictEqual(sum, checksum(created.key.slice(0, -6)))
        assert.isTrue(created.key.startsWith(created.prefix))
        assert.isFalse(created.prefix.includes(secret!.slice(0, 4)))
        const stored = yield* pooled<{ readonly row: string; readonly hash: string }>`
          select k::text as row, encode(secret_hash, 'hex') as hash from api_keys k where id = ${id}`
        assert.strictEqual(stored[0]!.hash, createHash("sha256").update(secret!).digest("hex"))
        assert.isFalse(stored[0]!.row.includes(secret!))
      }
    })
  )

  it.effect("creating an API key returns its members, and the secret only in this response", () =>
    Effect.gen(function* () {
      const expiresAt = "2099-01-31T09:30:00.000Z"
      const permissions = ["read:locations", "read:assets", "read:locations"]
      const created = yield* make(permissions, { expiresAt })
      assert.sameMembers(Object.keys(created), [
        "uuid",
        "key",
        "name",
        "prefix",
        "permissions",
        "createdAt",
        "expiresAt"
      ])
      assert.deepStrictEqual(created["permissions"], ["read:locations", "read:assets"])
      assert.strictEqual(created["expiresAt"], expiresAt)
      assert.notProperty(yield* make(["read:assets"], { expiresAt: null }), "expiresAt")
      const one = yield* send("GET", `${keys}/${created.uuid}`)
      const list = yield* send("GET", `${keys}?limit=500`)
      const own = yield* me(created.key)
      const { key, ...shown } = created
      assert.isTrue(list.body.data.length > 2)
      const creator = (yield* send("GET", "/v1/me")).body.data.uuid
      assert.deepStrictEqual(one.body.data, { ...shown, createdByKeyUuid: creator })
      assert.deepInclude(list.body.data, one.body.data)
      assert.deepStrictEqual(own.body.data, one.body.data)
      for (const { text } of [one, list, own]) assert.notMatch(text, /"key"|hash|[0-9A-Za-z]{43}/i, key)
    })
  )

  it.effect("a key cannot create or rotate a key with permissions it lacks, and the error lists them", () =>
    Effect.gen(function* () {
      const { key } = yield* make(["create:api-keys", "read:locations"])
      const more = ["read:locations", "delete:users", "read:audit"]
      const big = yield* make(more)
      for (const answer of [
        yield* send("POST", keys, { key, body: { name: "More", permissions: more } }),
        yield* send("POST", `${keys}/${big.uuid}/rotate`, { key, body: {} })
      ]) {
        expectError(answer, 403, "MissingPermissionsError")
        assert.sameMembers(answer.body.missing, ["delete:users", "read:audit"])
      }
      assert.strictEqual((yield* me(big.key)).status, 200)
      const list = yield* send("GET", `${keys}?filter=name:equals:More`)
      assert.strictEqual(list.body.pagination.total, 0)
      const body = { name: "Less", permissions: ["read:locations"] }
      assert.strictEqual((yield* send("POST", keys, { key, body })).status, 201)
    })
  )

  it.effect("an API key without a name, with an unknown permission or a past expiry is rejected", () =>
    Effect.gen(function* () {
      const good = { name: "a", permissions: ["read:locations"] }
      const cases: ReadonlyArray<readonly [string, object]> = [
        ["name", { permissions: good.permissions }],
        ["name", { ...good, name: " " }],
        ["name", { ...good, name: null }],
        ["permissions", { name: "a" }],
        ["permissions.0", { ...good, permissions: ["read:*"] }],
        ["permissions.1", { ...good, permissions: ["read:locations", "read:location"] }],
        ["permissions", { ...good, permissions: "read:locations" }],
        ["expiresAt", { ...good, expiresAt: "2001-01-01T00:00:00.000Z" }],
        ["expiresAt", { ...good, expiresAt: "tomorrow" }],
        ["key", { ...good, key: unknownKey }]
      ]
      for (const [path, body] of cases) {
        const answer = yield* send("POST", keys, { body })
        assert.strictEqual(answer.status, 400, path)
        assert.deepInclude(answer.body.issues[0], { in: "body", path })
      }
    })
  )

  it.effect("a revoked API key is a 401 at the next request, and is still listed", () =>
    Effect.gen(function* () {
      const { key, uuid } = yield* make(["read:locations"])
      assert.strictEqual(yield* reasonOf(key), 200)
      const { body, status } = yield* send("DELETE", `${keys}/${uuid}`)
      assert.deepStrictEqual([status, body], [200, { _tag: "Success", data: { uuid } }])
      assert.strictEqual(yield* reasonOf(key), "revoked")
      const { revokedAt } = (yield* send("GET", `${keys}/${uuid}`)).body.data
      assert.isString(revokedAt)
      const rotated = yield* send("POST", `${keys}/${uuid}/rotate`, { body: {} })
      expectError(rotated, 400, "InvalidRequestError")
      assert.strictEqual(yield* reasonOf(key), "revoked")
    })
  )

  it.effect("an unknown API key is a 404", () =>
    Effect.gen(function* () {
      for (const [method, path, sent] of [
        ["GET", `${keys}/${unknownUuid}`, {}],
        ["DELETE", `${keys}/${unknownUuid}`, {}],
        ["POST", `${keys}/${unknownUuid}/rotate`, { body: {} }]
      ] as const) {
        const body = expectError(yield* send(method, path, sent), 404, "ApiKeyNotFoundError", method)
        assert.strictEqual(body.uuid, unknownUuid, method)
      }
    })
  )

  it.effect("a 401 has its reason, and a wrong secret is indistinguishable from an unknown key", () =>
    Effect.gen(function* () {
      const { key } = yield* make(["read:locations"])
      const [, id, secret] = form.exec(key)!
      const typo = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0")
      assert.strictEqual(yield* reasonOf(null), "missing")
      for (const text of [
        typo,
        key.slice(1),
        `${key}0`,
        `Basic ${key}`,
        "wp_",
        "x",
        `${key} ${key}`,
        `${key},${key}`
      ]) {
        assert.strictEqual(yield* reasonOf(text), "malformed", text)
      }
      const other = secret!.slice(0, -1) + (secret!.endsWith("0") ? "1" : "0")
      const wrong = yield* me(keyOf(id!, other))
      const unknown = yield* me(unknownKey)
      assert.strictEqual(wrong.body.reason, "unknown")
      assert.strictEqual(wrong.text, unknown.text)
    })
  )

  it.effect("a key that was used is rejected within 2 s after it expires", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
      const { key, uuid } = yield* make(["read:locations"], { expiresAt })
      assert.strictEqual(yield* reasonOf(key), 200)
      yield* pooled`update api_keys set expires_at = expires_at - interval '1 hour' where uuid = ${uuid}`
      const [time, reason] = yield* Effect.timed(
        Effect.repeat(Effect.delay(reasonOf(key), "50 millis"), { until: (reason) => reason !== 200 })
      )
      assert.strictEqual(reason, "expired")
      assert.isBelow(Duration.toMillis(time), 2000)
    }).pipe(atBest)
  )

  it.effect("a Bearer or ApiKey scheme is accepted in any case", () =>
    Effect.gen(function* () {
      const permissions: ReadonlyArray<Permission> = ["create:jobs"]
      const { key, uuid } = yield* make(permissions)
      for (const scheme of ["", "Bearer ", "bearer ", "BEARER ", "ApiKey ", "apikey ", "APIKEY ", "aPiKeY "]) {
        const { body, status } = yield* me(scheme + key)
        assert.strictEqual(status, 200, scheme)
        assert.strictEqual(body.data.uuid, uuid)
        assert.deepStrictEqual(body.data.permissions, permissions)
      }
    })
  )
})
