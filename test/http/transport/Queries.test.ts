import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { operations } from "../../support/contract/Documented.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const requests = operations.map(({ hasBody, id, method, path }) => ({
  id,
  method,
  path: path.replaceAll(/\{\w+\}/g, unknownUuid),
  sent: hasBody ? { raw: "{}" } : {}
}))

layer(TestServer.layer(), { excludeTestServices: true })("Query parameters", (it) => {
  it.effect.each(requests)("$id rejects a parameter that it does not have", ({ method, path, sent }) =>
    Effect.gen(function* () {
      const answer = yield* send(method, `${path}?nonsense=1`, sent)
      const { issues } = expectError(answer, 400, "InvalidRequestError")
      const message = 'Unknown name "nonsense"'
      assert.deepInclude(issues, { in: "query", path: "nonsense", code: "unknownMember", message })
    })
  )

  it.effect("every unknown parameter has an issue, also one that is empty or given twice", () =>
    Effect.gen(function* () {
      const answer = yield* send("GET", "/v1/me?limit=1&page&fields=a&fields=b")
      const issues = ["limit unknownMember", "page unknownMember", "fields unknownMember"]
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", ...issues])
      assert.strictEqual((yield* send("GET", "/v1/me?")).status, 200)
    })
  )

  it.effect("a key is checked before the parameters", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const path = "/v1/locations/bulk?mode=atomic"
      const body = { operations: [] }
      expectError(yield* send("POST", path, { body, key: null }), 401, "UnauthorizedError")
      const reader = yield* key(["read:locations"])
      expectError(yield* send("POST", path, { body, key: reader }), 403, "MissingPermissionsError")
    })
  )

  it.effect("a bulk request with the mode in its query writes nothing", () =>
    Effect.gen(function* () {
      const identifier = unique("query")
      const body = { operations: [{ op: "create", data: { name: "Branch", identifier } }] }
      const answer = yield* send("POST", "/v1/locations/bulk?mode=atomic", { body })
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "mode unknownMember"])
      const found = yield* send("GET", `/v1/locations?filter=identifier:equals:${identifier}`)
      assert.strictEqual(found.body.pagination.total, 0)
    })
  )
})
