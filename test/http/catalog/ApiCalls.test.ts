import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  activate,
  createProduct,
  createVariant,
  deleteModule,
  putModule,
  readModule
} from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const call = (uuid: string, body: object, headers = {}) =>
  send("POST", `/v1/products/${uuid}/modules/api/calls`, { body, headers })

const ok = { status: "ok", httpStatus: 201 } as const
const failed = { at: "2026-03-01T08:00:00.000Z", status: "failed", httpStatus: 503 } as const

const withModule = (fields = {}) => Effect.tap(createProduct(fields), (uuid) => activate(uuid, "api", {}))

layer(TestServer.layer(), { excludeTestServices: true })("Calls of the API module", (it) => {
  it.effect("a call is the lastCall of the module, whose editedAt moves", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const before = yield* activate(uuid, "api", { provider: "erp" })
      assert.notProperty(before, "lastCall")
      const answer = yield* call(uuid, failed)
      assert.deepStrictEqual([answer.status, answer.body.data], [200, { uuid }])
      const { editedAt, lastCall, ...module } = yield* readModule(uuid, "api")
      assert.deepStrictEqual(lastCall, failed)
      assert.isAbove(Date.parse(editedAt), Date.parse(before.editedAt))
      assert.deepStrictEqual({ ...module, editedAt: before.editedAt }, before)
    })
  )

  it.effect("a call without a time is now, and the call that was reported last remains", () =>
    Effect.gen(function* () {
      const uuid = yield* withModule()
      for (const body of [ok, { ...ok, at: null }]) {
        const before = Date.now()
        assert.strictEqual((yield* call(uuid, body)).status, 200)
        const { lastCall } = yield* readModule(uuid, "api")
        assert.deepInclude(lastCall, ok)
        assert.isAtLeast(Date.parse(lastCall.at), before)
        assert.isAtMost(Date.parse(lastCall.at), Date.now())
      }
      yield* call(uuid, failed)
      assert.deepStrictEqual((yield* readModule(uuid, "api")).lastCall, failed)
    })
  )

  it.effect("a call that was reported already changes nothing", () =>
    Effect.gen(function* () {
      const uuid = yield* withModule()
      yield* call(uuid, failed)
      const before = yield* readModule(uuid, "api")
      assert.strictEqual((yield* call(uuid, failed)).status, 200)
      assert.deepStrictEqual(yield* readModule(uuid, "api"), before)
    })
  )

  it.effect("a write of the settings keeps the last call, and deleting the module removes it", () =>
    Effect.gen(function* () {
      const uuid = yield* withModule()
      yield* call(uuid, failed)
      yield* putModule(uuid, "api", { provider: "erp", lastCall: null })
      assert.deepInclude(yield* readModule(uuid, "api"), { provider: "erp", lastCall: failed })
      yield* deleteModule(uuid, "api")
      assert.notProperty(yield* activate(uuid, "api", {}), "lastCall")
    })
  )

  it.effect("a call of a variant sets the module that it inherits, and with a module of its own that one", () =>
    Effect.gen(function* () {
      const parent = yield* withModule({ type: "variantParent" })
      const variant = yield* createVariant(parent)
      assert.strictEqual((yield* call(variant, failed)).status, 200)
      for (const uuid of [parent, variant]) {
        assert.deepStrictEqual((yield* readModule(uuid, "api")).lastCall, failed)
      }
      assert.notProperty(yield* activate(variant, "api", {}), "lastCall")
      yield* call(variant, ok)
      assert.deepInclude((yield* readModule(variant, "api")).lastCall, ok)
      assert.deepStrictEqual((yield* readModule(parent, "api")).lastCall, failed)
    })
  )

  it.effect("a call of a product without the module is a 400, and of an unknown product a 404", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const error = expectError(yield* call(uuid, ok), 400, "ModuleNotActiveError")
      assert.deepInclude(error, { module: "api", productUuid: uuid })
      for (const headers of [{}, { "if-match": '"stale"' }]) {
        expectError(yield* call(unknownUuid, ok, headers), 404, "ProductNotFoundError")
      }
    })
  )

  it.effect("an incomplete call and one with unknown values are a 400", () =>
    Effect.gen(function* () {
      const uuid = yield* withModule()
      for (const [body, problem] of [
        [{ httpStatus: 200 }, "status required"],
        [{ status: "ok" }, "httpStatus required"],
        [{ ...ok, status: "done" }, "status notAllowed"],
        [{ ...ok, httpStatus: 99 }, "httpStatus outOfRange"],
        [{ ...ok, httpStatus: 600 }, "httpStatus outOfRange"],
        [{ ...ok, httpStatus: "200" }, "httpStatus wrongType"],
        [{ ...ok, at: "yesterday" }, "at invalidFormat"]
      ] as const) {
        assert.deepStrictEqual(problemsOf(yield* call(uuid, body)), [400, "InvalidRequestError", problem])
      }
      assert.notProperty(yield* readModule(uuid, "api"), "lastCall")
    })
  )

  it.effect("a call with a stale If-Match is a 412, and with the tag of the module succeeds", () =>
    Effect.gen(function* () {
      const parent = yield* withModule({ type: "variantParent" })
      for (const uuid of [parent, yield* createVariant(parent)]) {
        const tag = (yield* send("GET", `/v1/products/${uuid}/modules/api`)).headers.get("etag")!
        assert.strictEqual((yield* call(uuid, ok, { "if-match": tag })).status, 200)
        expectError(yield* call(uuid, failed, { "if-match": tag }), 412, "PreconditionFailedError")
        assert.deepInclude((yield* readModule(uuid, "api")).lastCall, ok)
      }
    })
  )

  it.effect(
    "of fifty concurrent calls and writes of the settings all succeed, and a call and the settings remain",
    () =>
      Effect.gen(function* () {
        const uuid = yield* withModule()
        const answers = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, index) => index),
          (index) =>
            index % 2 === 0
              ? call(uuid, { ...ok, httpStatus: 200 + index })
              : putModule(uuid, "api", { provider: "erp" }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        const { lastCall, provider } = yield* readModule(uuid, "api")
        assert.deepStrictEqual([provider, lastCall.status], ["erp", "ok"])
      })
  )
})
