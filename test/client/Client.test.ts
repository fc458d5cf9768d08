import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { Client } from "../../src/client/Client.ts"
import { LocationId } from "../../src/domain/locations/Location.ts"

const uuid = LocationId.make("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30")

/** A service that answers each request with the next of the given answers, and remembers what it was asked. */
const answering = async (answers: ReadonlyArray<readonly [status: number, body: unknown]>) => {
  const asked: Array<{ readonly method: string; readonly url: string; readonly key: string }> = []
  const server: Server = createServer((request, response) => {
    const [status, body] = answers[Math.min(asked.length, answers.length - 1)]!
    asked.push({
      method: request.method ?? "",
      url: request.url ?? "",
      key: String(request.headers["authorization"])
    })
    request.resume()
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const layer = Client.layer({ baseUrl: `http://127.0.0.1:${port}`, apiKey: Redacted.make("wp_test") })
  return { asked, layer, close: () => server.close() }
}

const unavailable = [503, { _tag: "ServiceUnavailableError", message: "later" }] as const
const written = { _tag: "Success", data: { uuid } }

describe("the typed client", () => {
  it.live("sends its key, writes filters in the grammar, and gives plain values", () =>
    Effect.gen(function* () {
      const page = { _tag: "Success", data: [], pagination: { limit: 2, page: 1, total: 0, pageCount: 0 } }
      const { asked, close, layer } = yield* Effect.promise(() => answering([[200, page]]))
      const found = yield* Effect.flatMap(Client, ({ locations }) =>
        locations.list({ query: { limit: 2, filter: [{ field: "name", operator: "contains", value: 'a,"b' }] } })
      ).pipe(Effect.provide(layer))
      close()
      assert.deepStrictEqual(found.data, [])
      assert.strictEqual(found.pagination.total, 0)
      assert.strictEqual(asked[0]!.key, "wp_test")
      assert.strictEqual(
        new URL(asked[0]!.url, "http://x").searchParams.get("filter"),
        String.raw`name:contains:"a,\"b"`
      )
    })
  )

  it.live("fails with the declared error", () =>
    Effect.gen(function* () {
      const { close, layer } = yield* Effect.promise(() =>
        answering([[404, { _tag: "LocationNotFoundError", message: "No such location", uuid }]])
      )
      const error = yield* Effect.flatMap(Client, ({ locations }) => locations.get({ params: { uuid } })).pipe(
        Effect.provide(layer),
        Effect.flip
      )
      close()
      assert.strictEqual(error._tag, "LocationNotFoundError")
    })
  )

  it.live("fails with the typed error of the transport, although no operation lists it", () =>
    Effect.gen(function* () {
      const errorOf = Effect.fnUntraced(function* (status: number, body: object) {
        const { close, layer } = yield* Effect.promise(() => answering([[status, body]]))
        const error = yield* Effect.flatMap(Client, ({ locations }) =>
          locations.create({ payload: { name: "Once", identifier: "once" } })
        ).pipe(Effect.provide(layer), Effect.flip)
        close()
        return error
      })
      const limited = yield* errorOf(429, { _tag: "RateLimitExceededError", message: "slow", retryAfterSeconds: 7 })
      assert.strictEqual(limited._tag === "RateLimitExceededError" && limited.retryAfterSeconds, 7)
      const statuses = { 405: "MethodNotAllowed", 408: "RequestTimeout", 412: "PreconditionFailed" } as const
      const others = { 413: "PayloadTooLarge", 414: "UriTooLong", 415: "UnsupportedMediaType" } as const
      const last = { 431: "HeadersTooLarge", 503: "ServiceUnavailable", 404: "RouteNotFound" } as const
      for (const [status, name] of Object.entries({ ...statuses, ...others, ...last })) {
        const body = { _tag: `${name}Error`, message: "no", ...(name === "MethodNotAllowed" ? { allowed: [] } : {}) }
        assert.strictEqual((yield* errorOf(Number(status), body))._tag, `${name}Error`)
      }
    })
  )

  it.live("repeats what may be repeated until the service is back", () =>
    Effect.gen(function* () {
      const { asked, close, layer } = yield* Effect.promise(() => answering([unavailable, unavailable, [200, written]]))
      yield* Effect.flatMap(Client, ({ locations }) =>
        locations.update({ params: { uuid }, payload: { name: "Again" } })
      ).pipe(Effect.provide(layer))
      close()
      assert.deepStrictEqual(
        asked.map(({ method }) => method),
        ["PATCH", "PATCH", "PATCH"]
      )
    })
  )

  it.live("never repeats a POST that may have been done", () =>
    Effect.gen(function* () {
      const { asked, close, layer } = yield* Effect.promise(() => answering([unavailable, [201, written]]))
      yield* Effect.flatMap(Client, ({ locations }) =>
        locations.create({ payload: { name: "Once", identifier: "once" } })
      ).pipe(Effect.provide(layer), Effect.flip)
      close()
      assert.lengthOf(asked, 1)
    })
  )
})
