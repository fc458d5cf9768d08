import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { createClient } from "../../../src/client/promise/PromiseClient.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { removeExpired } from "../../support/requests/IdempotentAnswers.ts"
import { createUser } from "../../support/requests/ProductRequests.ts"
import { create, expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const { TestServer: Server } = TestServer

const createWith = (key: string, body: unknown, more: object = {}) =>
  send("POST", "/v1/locations", { body, headers: { "idempotency-key": key }, ...more })
const branch = () => ({ name: "Branch", identifier: unique("repeated") })

const countOf = (identifier: string) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.map(
      pooled<{ readonly count: number }>`select count(*)::int as count from locations where identifier = ${identifier}`,
      ([row]) => row!.count
    )
  )

layer(TestServer.layer(), { excludeTestServices: true })("headers of writes", (it) => {
  describe("Idempotency-Key", () => {
    it.effect(
      "of concurrent requests with one key, one is done; the others get its answer or 409 with Retry-After",
      () =>
        Effect.gen(function* () {
          for (let round = 0; round < 5; round++) {
            const [key, body] = [unique("key"), branch()]
            const answers = yield* Effect.all(
              Array.from({ length: 20 }, () => createWith(key, body)),
              { concurrency: "unbounded" }
            )
            const created = answers.filter(({ status }) => status === 201)
            assert.isAtLeast(created.length, 1)
            assert.strictEqual(new Set(created.map(({ text }) => text)).size, 1)
            for (const answer of answers.filter(({ status }) => status !== 201)) {
              expectError(answer, 409, "IdempotencyInProgressError")
              assert.strictEqual(answer.headers.get("retry-after"), "1")
            }
            assert.strictEqual(yield* countOf(body.identifier), 1)
            assert.strictEqual((yield* createWith(key, body)).text, created[0]!.text)
          }
        })
    )

    it.effect(
      "while the first request waits for a lock, a repetition is in progress; afterwards it gets the answer",
      () =>
        Effect.gen(function* () {
          const { pooled } = yield* Sql
          const uuid = yield* create()
          const patch = send("PATCH", `/v1/locations/${uuid}`, {
            body: { name: "Renamed" },
            headers: { "idempotency-key": unique("waits") }
          })
          const locked = yield* Deferred.make<void>()
          const release = yield* Deferred.make<void>()
          const holder = yield* Effect.forkChild(
            pooled.withTransaction(
              Effect.andThen(
                Effect.andThen(
                  pooled`select from locations where uuid = ${uuid} for update`,
                  Deferred.succeed(locked, undefined)
                ),
                Deferred.await(release)
              )
            )
          )
          yield* Deferred.await(locked)
          const first = yield* Effect.forkChild(patch)
          const waiting = pooled<{ readonly count: number }>`select count(*)::int as count from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`
          yield* eventually("the first request waits", waiting, ([row]) => row!.count === 1)
          expectError(yield* patch, 409, "IdempotencyInProgressError")
          yield* Deferred.succeed(release, undefined)
          yield* Fiber.join(holder)
          assert.strictEqual((yield* Fiber.join(first)).status, 200)
          assert.strictEqual((yield* patch).headers.get("idempotent-replayed"), "true")
        })
    )

    it.effect("the same key with another body, path, query or method answers 422 and writes nothing", () =>
      Effect.gen(function* () {
        const [key, body] = [unique("key"), branch()]
        const { body: first } = yield* createWith(key, body)
        const headers = { "idempotency-key": key }
        const other = branch()
        for (const answer of [
          yield* createWith(key, other),
          yield* send("POST", "/v1/groups", { body, headers }),
          yield* send("DELETE", `/v1/locations/${first.data.uuid}`, { headers }),
          yield* createWith(key, body, { raw: `${JSON.stringify(body)} ` })
        ]) {
          expectError(answer, 422, "IdempotencyKeyReusedError")
        }
        assert.strictEqual(yield* countOf(other.identifier), 0)
        assert.strictEqual((yield* send("GET", `/v1/locations/${first.data.uuid}`)).status, 200)
        assert.strictEqual((yield* createWith(key, body)).headers.get("idempotent-replayed"), "true")
      })
    )

    it.effect("keys are separate for each API key, and shared by a rotated key and its successor", () =>
      Effect.gen(function* () {
        const { key: keyWith } = yield* Server
        const [one, other] = [
          yield* keyWith(["create:locations", "read:locations", "create:api-keys"]),
          yield* keyWith(["create:locations"])
        ]
        const [name, body] = [unique("key"), branch()]
        const first = yield* createWith(name, body, { key: one })
        expectError(yield* createWith(name, body, { key: other }), 400, "DuplicateIdentifierError")
        const me = yield* send("GET", "/v1/me", { key: one })
        const rotated = yield* send("POST", `/v1/api-keys/${me.body.data.uuid}/rotate`, { key: one, body: {} })
        const again = yield* createWith(name, body, { key: rotated.body.data.key })
        assert.deepStrictEqual([again.status, again.text], [201, first.text])
      })
    )

    it.effect("a repetition after a rotation gets the kept answer, however often the key was rotated before", () =>
      Effect.gen(function* () {
        const { key: keyWith } = yield* Server
        let key = yield* keyWith(["create:locations", "create:api-keys"])
        let { uuid } = (yield* send("GET", "/v1/me", { key })).body.data
        const rotate = Effect.gen(function* () {
          const { body } = yield* send("POST", `/v1/api-keys/${uuid}/rotate`, { body: {}, key })
          key = body.data.key
          uuid = body.data.uuid
        })
        yield* Effect.replicateEffect(rotate, 100, { discard: true })
        const [name, body] = [unique("key"), branch()]
        const first = yield* createWith(name, body, { key })
        yield* rotate
        const again = yield* createWith(name, body, { key })
        assert.deepStrictEqual([again.status, again.text], [201, first.text])
        assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      })
    )

    it.effect("after 24 hours the key is free again, and the answer is removed", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [key, body] = [unique("key"), branch()]
        yield* createWith(key, body)
        const age = (time: string) =>
          pooled`update idempotent_answers set created_at = now() - ${time}::interval where key = ${key}`
        yield* age("23 hours 59 minutes")
        assert.strictEqual((yield* createWith(key, body)).status, 201)
        yield* age("24 hours 1 minute")
        expectError(yield* createWith(key, body), 400, "DuplicateIdentifierError")
        assert.strictEqual((yield* createWith(key, body)).headers.get("idempotent-replayed"), "true")
        yield* age("24 hours 1 minute")
        yield* removeExpired
        assert.deepStrictEqual(yield* pooled`select key from idempotent_answers where key = ${key}`, [])
      })
    )

    it.effect.each(["", " ", "a b", "ü", "x".repeat(256)])("rejects the key %j", (key) =>
      Effect.gen(function* () {
        const body = branch()
        const answer = yield* createWith(encodeURI(key) === key || key.length > 1 ? key : "a\tb", body)
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "idempotency-key invalidFormat"])
        assert.strictEqual(yield* countOf(body.identifier), 0)
      })
    )

    it.effect("an answer that is not kept leaves the key free: bodies that do not decode, 404 and 412", () =>
      Effect.gen(function* () {
        const key = unique("key")
        const headers = { "idempotency-key": key }
        const uuid = yield* create()
        assert.strictEqual((yield* createWith(key, { name: 1 })).status, 400)
        expectError(
          yield* send("PATCH", `/v1/locations/${unknownUuid}`, { body: { name: "A" }, headers }),
          404,
          "LocationNotFoundError"
        )
        const stale = { ...headers, "if-match": '"stale"' }
        expectError(
          yield* send("PATCH", `/v1/locations/${uuid}`, { body: { name: "A" }, headers: stale }),
          412,
          "PreconditionFailedError"
        )
        assert.strictEqual((yield* createWith(key, branch())).status, 201)
      })
    )

    it.effect("a plan whose filter, ignored paths or file does not decode leaves the key free", () =>
      Effect.gen(function* () {
        for (const [query, raw, type, tag] of [
          ["&filter=nothing:equals:a", "[]", "application/json", "InvalidFilterError"],
          ["&ignore=nothing", "[]", "application/json", "InvalidRequestError"],
          ["", "{", "application/json", "InvalidRequestError"],
          ["", "identifier,nothing\n", "text/csv", "InvalidRequestError"]
        ] as const) {
          const headers = { "idempotency-key": unique("plan") }
          const plan = (query: string, raw: string, type: string) =>
            send("POST", `/v1/plans?resource=locations${query}`, { raw, headers: { ...headers, "content-type": type } })
          expectError(yield* plan(query, raw, type), 400, tag)
          const corrected = yield* plan("", "[]", "application/json")
          assert.strictEqual(corrected.status, 201, corrected.text)
          const again = yield* plan("", "[]", "application/json")
          assert.deepStrictEqual([again.text, again.headers.get("idempotent-replayed")], [corrected.text, "true"])
        }
      })
    )

    it.effect("a write that is repeated has one event, with the first request", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [key, body] = [unique("key"), branch()]
        const first = yield* createWith(key, body)
        yield* createWith(key, body)
        yield* pooled`select waypost_seal_all()`
        const { body: history } = yield* send("GET", `/v1/locations/${first.body.data.uuid}/history`)
        assert.deepStrictEqual(
          history.data.map(({ actor, type }: { actor: { requestId: string }; type: string }) => [
            type,
            actor.requestId
          ]),
          [["location.created", first.headers.get("x-request-id")]]
        )
      })
    )

    it.effect(
      "the promise client repeats a patch with ifMatch and a deletion whose answers are lost, and both succeed",
      () =>
        Effect.gen(function* () {
          const { fetch, fullKey } = yield* Server
          const lost = new Set<string>()
          /** Loses the first answer to each method but GET. */
          const losing: typeof globalThis.fetch = async (input, init) => {
            const response = await fetch(input instanceof Request ? input.url : String(input), init)
            const method = init?.method ?? "GET"
            if (method === "GET" || lost.has(method)) return response
            lost.add(method)
            throw new TypeError("the connection broke")
          }
          const { locations } = createClient({ url: "http://waypost.test", key: fullKey, fetch: losing })
          const uuid = yield* create()
          yield* Effect.promise(async () => {
            const { etag } = await locations.get(uuid).result()
            assert.deepStrictEqual(await locations.update(uuid, { name: "Renamed" }, { ifMatch: etag! }), { uuid })
            assert.strictEqual((await locations.get(uuid)).name, "Renamed")
            assert.deepStrictEqual(await locations.delete(uuid), { uuid })
          })
          assert.deepStrictEqual([...lost], ["PATCH", "DELETE"])
        })
    )

    it.effect("a restoration with a key is logged as one", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const uuid = yield* create()
        yield* send("DELETE", `/v1/locations/${uuid}`)
        const headers = { "idempotency-key": unique("key") }
        assert.strictEqual((yield* send("POST", `/v1/locations/${uuid}/restore`, { body: {}, headers })).status, 200)
        yield* pooled`select waypost_seal_all()`
        const { body } = yield* send("GET", `/v1/locations/${uuid}/history?limit=1`)
        assert.strictEqual(body.data[0].type, "location.restored")
      })
    )

    it.effect("the erasure of a user whose name is a common word keeps the answers that do not name the user", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const uuid = yield* createUser({ username: "data", email: 'da"ta@erased.example' })
        const key = (name: string) => ({ headers: { "idempotency-key": `common-${name}` } })
        yield* send("POST", "/v1/groups", { body: { name: unique("data") }, ...key("another") })
        yield* send("POST", "/v1/users/bulk", {
          body: { operations: [{ op: "update", uuid, data: { status: "active" } }] },
          ...key("named")
        })
        const other = yield* createUser()
        yield* send("PATCH", `/v1/users/${other}`, { body: { lastName: "data" }, ...key("surname") })
        assert.strictEqual((yield* send("DELETE", `/v1/users/${uuid}?erase=true`)).status, 200)
        const rows = yield* pooled<{ readonly key: string }>`
        select key from idempotent_answers where key like 'common-%' order by key`
        assert.deepStrictEqual(
          rows.map(({ key }) => key),
          ["common-another", "common-surname"]
        )
      })
    )

    it.effect("the erasure of a user removes the answers that name the user, in any case", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const uuid = yield* createUser({ username: "anna-erased", email: "anna@erased.example" })
        const headers = (key: string) => ({ headers: { "idempotency-key": key } })
        yield* send("PATCH", `/v1/users/${uuid}`, { body: { status: "active" }, ...headers("names-the-uuid") })
        yield* send("POST", "/v1/users", {
          body: { username: "anna-erased", email: "other@erased.example" },
          ...headers("names-the-username")
        })
        yield* send("POST", "/v1/users", {
          body: { username: "ANNA-Erased", email: "other@erased.example" },
          ...headers("names-in-capitals")
        })
        const kept = yield* createUser()
        yield* send("PATCH", `/v1/users/${kept}`, { body: { status: "active" }, ...headers("names-another") })
        assert.strictEqual((yield* send("DELETE", `/v1/users/${uuid}?erase=true`)).status, 200)
        const rows = yield* pooled<{ readonly key: string }>`
        select key from idempotent_answers where key like 'names-%' order by key`
        assert.deepStrictEqual(
          rows.map(({ key }) => key),
          ["names-another"]
        )
      })
    )
  })

  describe("Prefer: validate-only", () => {
    it.effect("validate-only is found among other preferences, and other preferences are ignored", () =>
      Effect.gen(function* () {
        for (const [prefer, status] of [
          ["validate-only", 200],
          ["Validate-Only", 200],
          ["return=minimal, validate-only; wait=5", 200],
          ["return=minimal", 201],
          ["validate-only-not", 201]
        ] as const) {
          const body = branch()
          const answer = yield* send("POST", "/v1/locations", { body, headers: { prefer } })
          assert.strictEqual(answer.status, status, prefer)
          assert.strictEqual(yield* countOf(body.identifier), status === 201 ? 1 : 0)
        }
      })
    )

    it.effect("with an Idempotency-Key, that is neither read nor kept", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [key, body] = [unique("both"), branch()]
        const headers = { "idempotency-key": key, prefer: "validate-only" }
        assert.deepStrictEqual((yield* createWith(key, body, { headers })).body.data, { valid: true })
        assert.deepStrictEqual(yield* pooled`select from idempotent_answers where key = ${key}`, [])
        yield* createWith(key, body)
        const other = yield* createWith(key, branch(), { headers })
        assert.deepStrictEqual([other.status, other.body.data], [200, { valid: true }])
      })
    )

    it.effect("a stale If-Match answers 412, and a permission that is missing 403", () =>
      Effect.gen(function* () {
        const { key } = yield* Server
        const uuid = yield* create()
        const headers = { prefer: "validate-only" }
        const body = { name: "Other" }
        expectError(
          yield* send("PATCH", `/v1/locations/${uuid}`, { body, headers: { ...headers, "if-match": '"stale"' } }),
          412,
          "PreconditionFailedError"
        )
        expectError(
          yield* send("PATCH", `/v1/locations/${uuid}`, { body, headers, key: yield* key(["read:locations"]) }),
          403,
          "MissingPermissionsError"
        )
      })
    )
  })
})
