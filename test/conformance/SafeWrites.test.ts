import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { accepted, databaseHash, refused } from "../threats/Corpus.ts"
import type { Operation } from "../support/contract/Documented.ts"
import { call } from "../support/contract/Provoking.ts"
import { type Answer, problemsOf, unique } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"

/** The operations that reject a header, as writes.md names them. */
const isUpload = ({ id }: Operation) => id.startsWith("uploads.")
const cannotRepeat = (operation: Operation) =>
  isUpload(operation) ||
  ["apiKeys.create", "apiKeys.rotate", "webhooks.create", "webhooks.rotateSecret", "webhooks.test"].includes(
    operation.id
  )
const cannotValidate = (operation: Operation) =>
  isUpload(operation) ||
  ["apiKeys.create", "apiKeys.rotate", "apiKeys.revoke", "plans.create"].includes(operation.id) ||
  ["webhooks.rotateSecret", "webhooks.test", "webhooks.replay"].includes(operation.id)

const isWrite = ({ operation }: { readonly operation: Operation }) => operation.method !== "GET"
const writes = accepted.filter(isWrite)
const rejections = refused.filter(isWrite)

const preferring = { headers: { prefer: "validate-only" } }
const withKey = (key: string) => ({ headers: { "idempotency-key": key } })

/** Bulk requests answer their operations, also when they are only validated. */
const isBulk = ({ id }: Operation) => id.endsWith(".bulk")
const summaryOf = ({ body, status }: Answer) => [
  status,
  body.applied,
  body.data.map((outcome: { readonly status: number }) => outcome.status)
]
const expectedOf = (body: unknown) => {
  const { operations } = body as { readonly operations: ReadonlyArray<{ readonly op: string }> }
  return [200, true, operations.map(({ op }) => (op === "create" || op === "upsert" ? 201 : 200))]
}

/** An answer without what differs between two requests. */
const comparable = ({ body, status }: Answer) => ({ status, body: { ...body, requestId: undefined } })

layer(TestServer.layer(), { excludeTestServices: true })("every write that is validated", (it) => {
  it.effect.each(writes.map((one) => [one.operation.id, one] as const))(
    "%s with validate-only answers that it is valid and changes no row, or rejects the header",
    ([id, { operation, prepared }]) =>
      Effect.gen(function* () {
        const asked = yield* prepared
        const before = yield* databaseHash
        const answer = yield* call(operation, asked, preferring)
        assert.deepStrictEqual(yield* databaseHash, before, id)
        if (cannotValidate(operation)) {
          assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "prefer notAllowed"])
        } else {
          if (isBulk(operation)) assert.deepStrictEqual(summaryOf(answer), expectedOf(asked.body))
          else assert.deepStrictEqual([answer.status, answer.body], [200, { _tag: "Success", data: { valid: true } }])
          assert.strictEqual(answer.headers.get("preference-applied"), "validate-only")
          assert.isNull(answer.headers.get("etag"))
          const written = yield* call(operation, asked)
          assert.isBelow(written.status, 300, "the write itself")
          if (isBulk(operation)) assert.deepStrictEqual(summaryOf(written), summaryOf(answer))
        }
      })
  )

  it.effect.each(rejections.map((one) => [`${one.operation.id} ${one.tag}`, one] as const))(
    "%s is rejected with validate-only as without it, and changes no row",
    ([, { operation, prepared, tag }]) =>
      Effect.gen(function* () {
        if (cannotValidate(operation)) return
        const asked = yield* prepared
        const before = yield* databaseHash
        const validated = yield* call(operation, asked, preferring)
        assert.deepStrictEqual(yield* databaseHash, before)
        assert.strictEqual(validated.body._tag, tag)
        assert.deepStrictEqual(comparable(validated), comparable(yield* call(operation, asked)))
      })
  )
})

layer(TestServer.layer(), { excludeTestServices: true })("every write that is repeated", (it) => {
  it.effect.each(writes.map((one) => [one.operation.id, one] as const))(
    "%s with an Idempotency-Key is done once and answered twice, or rejects the header",
    ([, { operation, prepared }]) =>
      Effect.gen(function* () {
        const asked = yield* prepared
        const key = withKey(unique("key"))
        if (cannotRepeat(operation)) {
          const before = yield* databaseHash
          const rejected = yield* call(operation, asked, key)
          assert.deepStrictEqual(problemsOf(rejected), [400, "InvalidRequestError", "idempotency-key notAllowed"])
          assert.deepStrictEqual(yield* databaseHash, before)
          return
        }
        const first = yield* call(operation, asked, key)
        assert.isBelow(first.status, 300, first.text)
        const between = yield* databaseHash
        const second = yield* call(operation, asked, key)
        assert.deepStrictEqual(yield* databaseHash, between)
        assert.deepStrictEqual([second.status, second.text], [first.status, first.text])
        for (const name of ["etag", "warning"]) assert.strictEqual(second.headers.get(name), first.headers.get(name))
        assert.isNull(first.headers.get("idempotent-replayed"))
        assert.strictEqual(second.headers.get("idempotent-replayed"), "true")
      })
  )

  it.effect.each(rejections.map((one) => [`${one.operation.id} ${one.tag}`, one] as const))(
    "%s has the same answer with an Idempotency-Key, which is kept if it is 409 or 400 because of a rule",
    ([, { operation, prepared, tag }]) =>
      Effect.gen(function* () {
        if (cannotRepeat(operation)) return
        const asked = yield* prepared
        const key = withKey(unique("key"))
        const first = yield* call(operation, asked, key)
        assert.strictEqual(first.body._tag, tag)
        const second = yield* call(operation, asked, key)
        // A filter is decoded, in a plan by its handler.
        const isKept = (first.status === 400 || first.status === 409) && tag !== "InvalidFilterError"
        assert.strictEqual(second.headers.get("idempotent-replayed"), isKept ? "true" : null)
        if (isKept) assert.strictEqual(second.text, first.text)
        else assert.deepStrictEqual(comparable(second), comparable(first))
      })
  )
})
