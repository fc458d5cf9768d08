import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { RequestListener } from "node:http"
import { isDeepStrictEqual } from "node:util"
import * as Postgres from "../../support/Postgres.ts"
import { status } from "../../support/Receiver.ts"
import { create, send } from "../../support/requests/Requests.ts"
import { createWebhook, deliveriesOf, path, receiver } from "../../support/requests/WebhookRequests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

interface Listed {
  readonly state: string
  readonly status?: number
  readonly error?: string
}

const types = ["location.created"]
const test = (uuid: string) => Effect.map(send("POST", `${path}/${uuid}/test`), ({ body }) => body.data)

/** Answers with a status, and without end. */
const trickle = Effect.gen(function* () {
  const timers: Array<NodeJS.Timeout> = []
  yield* Effect.addFinalizer(() => Effect.sync(() => timers.forEach((timer) => clearInterval(timer))))
  const answer: RequestListener = (_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write("x"), 50)
    response.once("close", () => clearInterval(timer))
    timers.push(timer)
  }
  return answer
})

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
      trickling!.answer = yield* trickle
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
      yield* Effect.forEach(Array.from({ length: 40 }), () => create(), { concurrency: 4 })
      yield* eventually(
        "the good receiver has all",
        Effect.sync(() => good!.received.length),
        (count) => count >= 40
      )
      const results = yield* Effect.forEach(hooks, ({ uuid }, index) =>
        eventually("an attempt has ended, or begun", deliveriesOf(uuid, "?limit=500"), (list) =>
          bad[index] === hanging || bad[index] === trickling
            ? bad[index]!.received.length > 0
            : list.some(({ state }: Listed) => state !== "pending")
        )
      )
      const ended = results.map((list: ReadonlyArray<Listed>) =>
        list.filter(({ state }) => state !== "pending").map(({ error, state, status }) => [state, status, error])
      )
      // The good receiver has waited for no attempt at these.
      assert.deepStrictEqual([ended[0], ended[3]], [[], []])
      assert.deepStrictEqual(ended[1]![0], ["failed", 302, "Status 302"])
      assert.deepStrictEqual(ended[2]![0]!.slice(0, 2), ["failed", undefined])
      assert.deepStrictEqual(ended[4]![0], ["delivered", 200, undefined])
      assert.lengthOf(elsewhere!.received, 0)
      assert.isBelow(most, 32 * 1024 * 1024)
    })
  )
})

/** Attempts have the time of production. */
const server = TestServer.limited().pipe(Layer.provide([Postgres.patience, TestServer.patience]))

layer(server, { excludeTestServices: true })("Receivers that take too long", (it) => {
  it.effect("an attempt ends after ten seconds, and has failed unless the receiver has answered with a status", () =>
    Effect.gen(function* () {
      const [hanging, trickling] = [yield* receiver, yield* receiver]
      hanging.answer = () => undefined
      trickling.answer = yield* trickle
      yield* Effect.forEach(
        [
          [hanging, ["failed", undefined, "No answer within 10 s"]],
          // On a busy machine the status of an attempt may come too late.
          [trickling, ["delivered", 200, undefined]]
        ] as const,
        Effect.fnUntraced(function* ([{ url }, expected]) {
          const { uuid } = yield* createWebhook({ url, types })
          yield* create()
          yield* eventually(`an attempt has ${expected[0]}`, deliveriesOf(uuid, "?limit=500"), (list) =>
            list.some(({ error, state, status }: Listed) => isDeepStrictEqual([state, status, error], expected))
          )
        }),
        { concurrency: "unbounded" }
      )
    })
  )
})
