import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { expectError, send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"
import * as ApiKeySecret from "../../../src/domain/keys/ApiKeySecret.ts"
import { Sql } from "../../../src/sql/Sql.ts"

/** A key that no database has. */
const unknownKey = (number: number) => ApiKeySecret.format(new Uint8Array(16).fill(number), new Uint8Array(32)).key

const statusOf = (key: string) => Effect.map(send("GET", "/v1/me", { key }), ({ status }) => status)

layer(TestServer.layer())("Verified keys", (it) => {
  it.effect("a key that another process revokes is rejected a second later, however often it is used", () =>
    Effect.gen(function* () {
      const { key: createKey } = yield* TestServer.TestServer
      const key = yield* createKey(["read:locations"])
      assert.strictEqual(yield* statusOf(key), 200)
      const { pooled } = yield* Sql
      yield* pooled`update api_keys set revoked_at = now() where ${key} like 'wp\\_' || id || '\\_%'`
      for (let tenth = 0; tenth < 10; tenth++) {
        yield* statusOf(key)
        yield* TestClock.adjust("100 millis")
      }
      assert.strictEqual(yield* statusOf(key), 401)
    })
  )

  it.effect(
    "a key that another process revokes is rejected a second later, also if the clock was set back by an hour",
    () =>
      Effect.gen(function* () {
        const { key: createKey } = yield* TestServer.TestServer
        const [key, other] = [yield* createKey(["read:locations"]), yield* createKey(["read:locations"])]
        const { pooled } = yield* Sql
        yield* TestClock.adjust("1 hour")
        for (const header of [key, `Bearer ${key}`, other]) assert.strictEqual(yield* statusOf(header), 200)
        yield* pooled`update api_keys set revoked_at = now()
        where ${key} like 'wp\\_' || id || '\\_%' or ${other} like 'wp\\_' || id || '\\_%'`
        yield* TestClock.setTime(0)
        yield* TestClock.adjust("1 second")
        // The last two are not the header by which the key was verified last.
        for (const header of [other, key, `apikey ${key}`]) assert.strictEqual(yield* statusOf(header), 401)
      })
  )

  it.effect("a header that differs in one character from that of a verified key is rejected", () =>
    Effect.gen(function* () {
      const { key: createKey } = yield* TestServer.TestServer
      const key = yield* createKey(["read:locations"])
      assert.strictEqual(yield* statusOf(key), 200)
      for (let place = 0; place < key.length; place++) {
        const other = key[place] === "0" ? "1" : "0"
        assert.strictEqual(yield* statusOf(key.slice(0, place) + other + key.slice(place + 1)), 401, `${place}`)
      }
      assert.strictEqual(yield* statusOf(`Bearer ${key}`), 200)
      assert.strictEqual(yield* statusOf(key), 200)
    })
  )

  it.effect("a key that is revoked is rejected at once by the process that revokes it", () =>
    Effect.gen(function* () {
      const { key: createKey } = yield* TestServer.TestServer
      const key = yield* createKey(["read:locations"])
      const me = yield* send("GET", "/v1/me", { key })
      assert.strictEqual((yield* send("DELETE", `/v1/api-keys/${me.body.data.uuid}`)).status, 200)
      assert.strictEqual(yield* statusOf(key), 401)
    })
  )

  it.effect("unknown keys that wait for too long behind others of their address get a 429", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const isLocked = yield* Deferred.make<void>()
      const isRejected = yield* Deferred.make<void>()
      // Lookups keep their places while the table is locked.
      const lock = pooled`lock table api_keys in access exclusive mode`.pipe(
        Effect.andThen(Deferred.succeed(isLocked, undefined)),
        Effect.andThen(Deferred.await(isRejected)),
        pooled.withTransaction
      )
      const locked = yield* Effect.forkChild(lock)
      yield* Deferred.await(isLocked)
      const answers = yield* Effect.forEach(
        Array.from({ length: 24 }, (_, number) => unknownKey(number)),
        (key) =>
          Effect.tap(send("GET", "/v1/me", { key }), ({ status }) =>
            status === 429 ? Deferred.succeed(isRejected, undefined) : Effect.void
          ),
        { concurrency: "unbounded" }
      )
      const rejected = answers.filter(({ status }) => status === 429)
      assert.isNotEmpty(rejected)
      for (const answer of rejected) {
        assert.include(expectError(answer, 429, "RateLimitExceededError").message, "of this address")
        assert.strictEqual(answer.headers.get("retry-after"), "1")
      }
      yield* Fiber.join(locked)
    })
  )
})
