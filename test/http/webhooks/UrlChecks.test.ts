import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { LookupPatience } from "../../../src/services/webhooks/Webhooks.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { status } from "../../support/Receiver.ts"
import { createProduct } from "../../support/requests/ProductRequests.ts"
import { create, expectError, send } from "../../support/requests/Requests.ts"
import { createWebhook, deliveriesOf, path, readWebhook, receiver } from "../../support/requests/WebhookRequests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const url = "https://first.example"
const moved = "https://moved.example"

/** What happens during each lookup of the new host, and its answer. */
let duringLookup: Array<() => Promise<unknown>> = []
let answerOf: () => Promise<ReadonlyArray<string>> = TestServer.lookup
const lookup = async (host: string) => {
  if (host !== "moved.example") return TestServer.lookup()
  await duringLookup.shift()?.()
  return answerOf()
}
const failure = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))

/** Moves a webhook of products with a key that may read products; while the new host is looked up, another key writes this. */
const move = Effect.fnUntraced(function* (changes: ReadonlyArray<object>, headers: Record<string, string> = {}) {
  const { uuid } = yield* createWebhook({ url, types: ["product.*"] })
  const { key } = yield* TestServer.TestServer
  const run = Effect.runPromiseWith(yield* Effect.context<TestServer.TestServer>())
  duringLookup = changes.map((body) => () => run(send("PATCH", `${path}/${uuid}`, { body })))
  const by = yield* key(["update:webhooks", "read:webhooks", "read:products"])
  const answer = yield* send("PATCH", `${path}/${uuid}`, { body: { url: moved }, key: by, headers })
  assert.lengthOf(duringLookup, 0)
  return { answer, webhook: yield* readWebhook(uuid) }
})

/** Moves a webhook as often as it is asked to. */
const moving = Effect.map(
  createWebhook({ url, types: ["product.*"] }),
  ({ uuid }) =>
    (headers: Readonly<Record<string, string>>) =>
      send("PATCH", `${path}/${uuid}`, { body: { url: moved }, headers })
)

const patient = TestServer.layer({}, lookup).pipe(Layer.provide(Layer.succeed(LookupPatience, "1 minute")))

layer(patient, { excludeTestServices: true })("checks of a new URL", (it) => {
  it.effect("a key cannot move a webhook that gets types that it may not read while the new host is looked up", () =>
    Effect.gen(function* () {
      const { answer, webhook } = yield* move([{ types: ["post.*"] }])
      const { missing } = expectError(answer, 403, "MissingPermissionsError")
      assert.deepStrictEqual([missing, webhook.url], [["read:posts"], url])
    })
  )

  it.effect("a webhook is moved although others change it while the new host is looked up", () =>
    Effect.gen(function* () {
      const { answer, webhook } = yield* move([
        { types: ["product.created"] },
        { url: "https://other.example" },
        { description: "Shop" }
      ])
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual([webhook.url, webhook.types, webhook.description], [moved, ["product.created"], "Shop"])
    })
  )

  it.effect("a webhook is not locked while its new host is looked up again, also within one transaction", () =>
    Effect.gen(function* () {
      const changes = [{ types: ["product.created"] }, { url: "https://other.example" }, { description: "Shop" }]
      const { answer, webhook } = yield* move(changes, { "idempotency-key": "moves-a-webhook" })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual([webhook.url, webhook.types, webhook.description], [moved, ["product.created"], "Shop"])
    })
  )

  it.effect("a key that narrows the types and moves the webhook receives no waiting event that it may not read", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [first, second] = [yield* receiver, yield* receiver]
      first.answer = status(500)
      const { uuid } = yield* createWebhook({ url: first.url, types: ["*"] })
      const location = yield* create()
      yield* eventually("an attempt fails", deliveriesOf(uuid, "?state=failed"), (list) =>
        list.some(({ eventType }: { eventType: string }) => eventType === "location.created")
      )
      const { key } = yield* TestServer.TestServer
      const by = yield* key(["update:webhooks", "read:products"])
      const body = { url: second.url, types: ["product.*"] }
      const answer = yield* send("PATCH", `${path}/${uuid}`, { body, key: by })
      assert.strictEqual(answer.status, 200, answer.text)
      const product = yield* createProduct()
      yield* pooled`select waypost_seal_all()`
      const queue = Effect.andThen(
        pooled`update webhook_queue set due_at = now() where taken_until is null`,
        pooled`select from webhook_queue where webhook_uuid = ${uuid}`
      )
      yield* eventually("the product arrives", queue, () => second.received.length > 0)
      yield* eventually("nothing waits", queue, (rows) => rows.length === 0)
      assert.deepStrictEqual(
        second.received.map(({ json }) => json.data.record.uuid),
        [product]
      )
      assert.include(
        first.received.map(({ json }) => json.data.record.uuid),
        location
      )
    })
  )

  it.effect("a transient failure of the DNS is not kept for an Idempotency-Key, and that of an unknown host is", () =>
    Effect.gen(function* () {
      const move = yield* moving
      const transient = { "idempotency-key": "transient" }
      answerOf = failure("ESERVFAIL")
      expectError(yield* move(transient), 503, "ServiceUnavailableError")
      expectError(yield* move({}), 400, "InvalidRequestError")
      for (const code of ["EBADNAME", "ENOTFOUND"]) {
        answerOf = failure(code)
        expectError(yield* move({ "idempotency-key": code }), 400, "InvalidRequestError")
      }
      answerOf = TestServer.lookup
      assert.strictEqual((yield* move(transient)).status, 200)
      const kept = yield* move({ "idempotency-key": "ENOTFOUND" })
      expectError(kept, 400, "InvalidRequestError")
      assert.strictEqual(kept.headers.get("idempotent-replayed"), "true")
    })
  )
})

layer(TestServer.layer({}, lookup), { excludeTestServices: true })("name servers of a new URL", (it) => {
  it.effect("a write within one transaction does not wait for name servers that do not answer", () =>
    Effect.gen(function* () {
      const move = yield* moving
      answerOf = () => new Promise(() => {})
      for (const headers of [{ "idempotency-key": "waits-for-names" }, { prefer: "validate-only" }]) {
        const answer = yield* move(headers)
        expectError(answer, 503, "ServiceUnavailableError")
        assert.include(answer.body.message, "host of the URL")
        assert.strictEqual(answer.headers.get("retry-after"), "1")
      }
    })
  )
})
