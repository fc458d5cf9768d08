import { assert, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { makeRecover } from "../../../src/http/transport/Failures.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { create, expectError, send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

/** The errors that were logged. */
const errors: Array<string> = []
const logger = Logger.layer([
  Logger.make(({ logLevel, message }) => void (logLevel === "Error" && errors.push(String(message))))
])

/** Where a write waits for a lock as long as in production. */
const server = Layer.provide(TestServer.limited(), [
  Postgres.patienceBut({ lockMillis: 2000 }),
  TestServer.patience,
  logger
])

layer(server, { excludeTestServices: true })("Messages of errors", (it) => {
  it.effect.each([
    [[], "", "Expected an object, got a list"],
    [{ name: "A", identifier: "a", address: [] }, "address", "Expected an object or null, got a list"],
    [{ name: ["A"], identifier: "a" }, "name", "Expected a string, got a list"]
  ] as const)("a list in place of another value is of the wrong type: %j", ([body, path, message]) =>
    Effect.gen(function* () {
      const { issues } = expectError(yield* send("POST", "/v1/locations", { body }), 400, "InvalidRequestError")
      assert.deepInclude(issues[0], { in: "body", path, code: "wrongType", message })
    })
  )

  it.effect("a list in place of a word is of the wrong type, and the message lists the words", () =>
    Effect.gen(function* () {
      const body = { username: "list", email: "list@example.com", status: ["active"] }
      const { issues } = expectError(yield* send("POST", "/v1/users", { body }), 400, "InvalidRequestError")
      const message = "Expected one of pending, active, suspended, got a list"
      assert.deepInclude(issues[0], { path: "status", code: "wrongType", message })
    })
  )

  it.effect("a parameter of a query that is given twice is reported as such", () =>
    Effect.gen(function* () {
      const { issues } = expectError(yield* send("GET", "/v1/locations?limit=1&limit=2"), 400, "InvalidRequestError")
      assert.deepInclude(issues[0], { in: "query", path: "limit", code: "givenTwice" })
    })
  )

  it.effect("a write whose record another write holds is a 503 that says so", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuid = yield* create({ name: "Held", identifier: "held" })
      const isHeld = yield* Deferred.make<void>()
      yield* pooled`select from locations where uuid = ${uuid} for update`.pipe(
        Effect.andThen(Deferred.succeed(isHeld, undefined)),
        Effect.andThen(Effect.never),
        pooled.withTransaction,
        Effect.forkScoped
      )
      yield* Deferred.await(isHeld)
      const answer = yield* send("PATCH", `/v1/locations/${uuid}`, { body: { name: "Waiting" } })
      const { message } = expectError(answer, 503, "ServiceUnavailableError")
      assert.include(message, "Another write holds this record")
      assert.strictEqual(answer.headers.get("retry-after"), "1")
    })
  )

  it.effect("a write that finds the disk of the database full is a 503 of its own, and an error in the log", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      // PostgreSQL raises this error when it cannot extend a file.
      yield* pooled`create function raise_disk_full() returns trigger language plpgsql as
        $$begin raise exception 'could not extend file "base/1/2"' using errcode = '53100'; end$$`
      yield* pooled`create trigger raise_disk_full before insert on groups execute function raise_disk_full()`
      for (const name of ["Full", "Full again"]) {
        const answer = yield* send("POST", "/v1/groups", { body: { name } })
        const { message } = expectError(answer, 503, "ServiceUnavailableError")
        assert.strictEqual(message, "The database has no space left; report it to the operator, and try again later")
        assert.strictEqual(answer.headers.get("retry-after"), "1")
      }
      assert.deepStrictEqual(errors, ['The database has no space left: could not extend file "base/1/2"'])
    })
  )

  it.effect("a full disk of the database is logged again after a minute, also if the clock was set back", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const failure = yield* Effect.flip(
        pooled.unsafe("do $$begin raise exception 'No space left on device' using errcode = '53100'; end$$")
      )
      errors.length = 0
      yield* Effect.gen(function* () {
        const recover = makeRecover()
        const fail = recover(Cause.die(failure), "id")
        yield* TestClock.setTime(1_800_000_000_000)
        for (const [after, count] of [
          ["0 seconds", 1],
          ["59 seconds", 1],
          ["1 second", 2]
        ] as const) {
          yield* TestClock.adjust(after)
          yield* fail
          assert.strictEqual(errors.length, count)
          yield* TestClock.setTime(1_700_000_000_000)
        }
      }).pipe(Effect.provide([TestClock.layer(), logger]))
    })
  )
})
