import { assert, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { create, expectError, send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("Messages of errors", (it) => {
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
})
