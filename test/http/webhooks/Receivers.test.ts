import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { status } from "../../support/Receiver.ts"
import { create, send } from "../../support/requests/Requests.ts"
import { createWebhook, deliveriesOf, path, receiver } from "../../support/requests/WebhookRequests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const types = ["location.created"]
const test = (uuid: string) => Effect.map(send("POST", `${path}/${uuid}/test`), ({ body }) => body.data)

layer(TestServer.layer(), { excludeTestServices: true })("Receivers", (it) => {
  it.effect("a test sends an event about the webhook and answers what was sent and what came back", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types, active: false })
      const { durationMs, request, ...rest } = yield* test(uuid)
      assert.deepStrictEqual(rest, { status: 204 }, "the answer of a private address is not shown")
      assert.isAtLeast(durationMs, 0)
      const [got] = received
      assert.strictEqual(got!.body, request.body)
      for (const [name, value] of Object.entries(request.headers)) assert.strictEqual(got!.headers[name], value)
      const { data, test: isTest, type } = got!.json
      assert.deepStrictEqual([type, isTest, data.type], ["webhook.updated", true, "webhook.updated"])
      assert.deepStrictEqual(data.record, { type: "webhook", uuid, label: url })
      assert.deepStrictEqual([data.actor.type, data.changes, data.id], ["apiKey", [], got!.headers["webhook-id"]])
      assert.lengthOf(yield* deliveriesOf(uuid), 0)
    })
  )

  it.effect("receivers that hang, redirect, fail, trickle or answer 64 MB delay no other", () =>
    Effect.gen(function* () {
      const [hanging, redirecting, failing, trickling, huge, elsewhere, good] = yield* Effect.all(
        Array.from({ length: 7 }, () => receiver)
      )
      hanging!.answer = () => undefined
      redirecting!.answer = status(302, { location: elsewhere!.url })
      failing!.answer = (request) => request.socket.destroy()
      const timers: Array<NodeJS.Timeout> = []
      yield* Effect.addFinalizer(() => Effect.sync(() => timers.forEach((timer) => clearInterval(timer))))
      trickling!.answer = (_, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write("x"), 50)
        response.once("close", () => clearInterval(timer))
        timers.push(timer)
      }
      let most = 0
      const part = Buffer.alloc(64 * 1024)
      huge!.answer = (_, response) => {
        let written = 0
        response.writeHead(200)
        const more = () => {
          while (!response.destroyed && written < 64 * 1024 * 1024) {
            written += 64 * 1024
            most = Math.max(most, written)
            if (!response.write(part)) return void response.once("drain", more)
          }
        }
        more()
      }
      const bad = [hanging!, redirecting!, failing!, trickling!, huge!]
      const hooks = yield* Effect.forEach(bad, ({ url }) => createWebhook({ url, types }))
      yield* createWebhook({ url: good!.url, types })
      const began = performance.now()
      yield* Effect.forEach(Array.from({ length: 40 }), () => create(), { concurrency: 4 })
      yield* eventually(
        "the good receiver has all",
        Effect.sync(() => good!.received.length),
        (count) => count >= 40
      )
      // The good receiver waits for no attempt at the hanging one, which takes 10 s.
      const times = [began, ...good!.received.map(({ at }) => at)]
      assert.isBelow(Math.max(...times.slice(1).map((at, index) => at - times[index]!)), 9000)
      const results = yield* Effect.forEach([0, 1, 2, 3, 4], (index) =>
        eventually("an attempt has ended", deliveriesOf(hooks[index]!.uuid, "?limit=500"), (list) =>
          list.some(({ state }: { state: string }) => state !== "pending")
        )
      )
      const ended = results.map((list) => {
        const { error, state, status } = list.find(({ state }: { state: string }) => state !== "pending")
        return [state, status, error]
      })
      assert.deepStrictEqual(ended[0], ["failed", undefined, "No answer within 10 s"])
      assert.deepStrictEqual(ended[1], ["failed", 302, "Status 302"])
      assert.deepStrictEqual(ended[2]!.slice(0, 2), ["failed", undefined])
      assert.deepStrictEqual(ended[3], ["delivered", 200, undefined])
      assert.deepStrictEqual(ended[4], ["delivered", 200, undefined])
      assert.lengthOf(elsewhere!.received, 0)
      assert.isBelow(most, 32 * 1024 * 1024)
    })
  )
})
