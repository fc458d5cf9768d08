import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { setImmediate } from "node:timers/promises"
import { Client, events } from "../../src/client/Client.ts"
import * as Follow from "../../src/client/Follow.ts"
import * as Http from "../../src/client/promise/Http.ts"
import { until } from "../support/Until.ts"

type Fetch = typeof globalThis.fetch

const url = "http://waypost.test"

/** The next events as each client reads them, without an end. */
const clients: Readonly<Record<string, (fetch: Fetch) => Effect.Effect<unknown, unknown>>> = {
  promise: (fetch) => {
    const request = { method: "GET", url: `${url}/v1/events`, headers: {}, body: undefined }
    const read = () => Effect.as(Http.call(fetch, request), { data: [], cursor: "c" })
    return Effect.forever(Follow.next({ ...Http.failures, read }, undefined))
  },
  Effect: (fetch) =>
    Stream.runDrain(events()).pipe(
      Effect.provide(Client.layer({ baseUrl: url, apiKey: "wp_test" })),
      Effect.provideService(FetchHttpClient.Fetch, fetch)
    )
}

/** Lets seconds of the clock of the test pass, and runs what is ready after each. */
const pass = Effect.fnUntraced(function* (seconds: number) {
  for (let second = 0; second < seconds; second++) {
    yield* TestClock.adjust("1 second")
    yield* Effect.promise(() => setImmediate())
  }
})

/** Follows the log with a fetch whose requests are counted. */
const follow = Effect.fnUntraced(function* (
  name: string,
  answer: (init: RequestInit | undefined) => Promise<Response>
) {
  let count = 0
  yield* Effect.forkChild(
    clients[name]!((_, init) => {
      count++
      return answer(init)
    })
  )
  yield* Effect.promise(() => until("the first request is sent", () => count === 1))
  return () => count
})

const silent = (init: RequestInit | undefined) =>
  new Promise<never>((_resolve, reject) => {
    init?.signal?.addEventListener("abort", () => reject(new Error("aborted")))
  })

const limited = (seconds: number) => () => {
  const body = { _tag: "RateLimitExceededError", message: "slow", retryAfterSeconds: seconds, requestId: "1" }
  const headers = { "content-type": "application/json", "retry-after": String(seconds) }
  return Promise.resolve(new Response(JSON.stringify(body), { status: 429, headers }))
}

describe("following the log with the typed clients", () => {
  for (const name of ["promise", "Effect"]) {
    it.effect(`the ${name} client asks again when a request has no answer for a minute, and not before`, () =>
      Effect.gen(function* () {
        const count = yield* follow(name, silent)
        yield* pass(55)
        assert.strictEqual(count(), 1)
        yield* pass(10)
        assert.strictEqual(count(), 2)
      })
    )

    it.effect(`the ${name} client reads an answer that takes longer than a minute to arrive`, () =>
      Effect.gen(function* () {
        const body = { _tag: "Success", data: [], cursor: "c", more: false }
        let end = () => {}
        const slow = new ReadableStream<Uint8Array>({
          start: (controller) => {
            end = () => {
              controller.enqueue(new TextEncoder().encode(JSON.stringify(body)))
              controller.close()
            }
          }
        })
        const response = new Response(slow, { headers: { "content-type": "application/json" } })
        let asked = 0
        const count = yield* follow(name, (init) => (asked++ === 0 ? Promise.resolve(response) : silent(init)))
        yield* pass(90)
        assert.strictEqual(count(), 1)
        end()
        yield* Effect.promise(() => until("the next request is sent", () => count() === 2))
      })
    )

    it.effect(`the ${name} client follows on after the time that the service asks for, or after five minutes`, () =>
      Effect.gen(function* () {
        const minutes = yield* follow(name, limited(120))
        yield* pass(115)
        assert.strictEqual(minutes(), 1)
        yield* pass(10)
        assert.strictEqual(minutes(), 2)
        const hour = yield* follow(name, limited(3600))
        yield* pass(295)
        assert.strictEqual(hour(), 1)
        yield* pass(10)
        assert.strictEqual(hour(), 2)
      })
    )
  }
})
