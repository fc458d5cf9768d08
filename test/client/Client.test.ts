import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Redacted, Stream } from "effect"
import { Cookies, HttpClientResponse } from "effect/http"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Client, eventPages, events, plan } from "../../src/client/Client.ts"
import * as Ids from "../../src/client/Ids.ts"
import { ApiKeyId } from "../../src/domain/keys/ApiKey.ts"
import { LocationId } from "../../src/domain/locations/Location.ts"
import { until } from "../support/Until.ts"
import * as Responses from "./Responses.ts"
import type { Response } from "./Responses.ts"

const root = join(import.meta.dirname, "../..")
const uuid = LocationId.make("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30")
const requestId = "trace-me:1"

const serverWith = async (responses: ReadonlyArray<Response>) => {
  const server = await Responses.serverWith(responses)
  return { ...server, layer: Client.layer({ baseUrl: server.url, apiKey: Redacted.make("wp_test") }) }
}

const unavailable = [503, { _tag: "ServiceUnavailableError", message: "later" }] as const
const written = { _tag: "Success", data: { uuid } }

describe("typed client", () => {
  it("the package has the constructor of every id", () => {
    const files = globSync("src/domain/**/*.ts", { cwd: root })
    const names = files.flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/^export const (\w+Id) = Uuid\.pipe/gm)].map(
        ([, name]) => name!
      )
    )
    assert.sameMembers(Object.keys(Ids), names)
  })

  it.live("the client sends its key, prints filters in the grammar, and returns decoded values", () =>
    Effect.gen(function* () {
      const page = { _tag: "Success", data: [], pagination: { limit: 2, page: 1, total: 0, pageCount: 0 } }
      const { requests, close, layer } = yield* Effect.promise(() => serverWith([[200, page]]))
      const found = yield* Effect.flatMap(Client, ({ locations }) =>
        locations.list({ query: { limit: 2, filter: [{ field: "name", operator: "contains", value: 'a,"b' }] } })
      ).pipe(Effect.provide(layer))
      close()
      assert.deepStrictEqual(found.data, [])
      assert.strictEqual(found.pagination.total, 0)
      assert.strictEqual(requests[0]!.key, "wp_test")
      assert.strictEqual(
        new URL(requests[0]!.url, "http://x").searchParams.get("filter"),
        String.raw`name:contains:"a,\"b"`
      )
    })
  )

  it.live("the client accepts members and words that a later release adds", () =>
    Effect.gen(function* () {
      const later = { _tag: "Success", data: { uuid, since: 2 }, warnings: [] }
      const reason = { _tag: "UnauthorizedError", message: "Not now", reason: "suspended", requestId, until: "noon" }
      const { close, layer } = yield* Effect.promise(() =>
        serverWith([
          [200, later],
          [401, reason]
        ])
      )
      const { locations } = yield* Effect.provide(Client, layer)
      assert.deepStrictEqual(yield* locations.delete({ params: { uuid } }), { uuid })
      const error = yield* Effect.flip(locations.delete({ params: { uuid } }))
      close()
      assert.deepInclude(error, { _tag: "UnauthorizedError", reason: "suspended" })
    })
  )

  it.live("the client fails with the declared error", () =>
    Effect.gen(function* () {
      const { close, layer } = yield* Effect.promise(() =>
        serverWith([[404, { _tag: "LocationNotFoundError", message: "No such location", uuid, requestId }]])
      )
      const error = yield* Effect.flatMap(Client, ({ locations }) =>
        locations.get({ params: { uuid }, query: {} })
      ).pipe(Effect.provide(layer), Effect.flip)
      close()
      assert.strictEqual(error._tag === "LocationNotFoundError" && error.requestId, requestId)
    })
  )

  it.live("the client takes a key as text, and an error has no stack of the decoder", () =>
    Effect.gen(function* () {
      const body = { _tag: "UnauthorizedError", message: "The API key is unknown", reason: "unknown", requestId }
      const { close, requests, url } = yield* Effect.promise(() => serverWith([[401, body]]))
      const error = yield* Effect.flatMap(Client, ({ apiKeys }) => apiKeys.me()).pipe(
        Effect.provide(Client.layer({ baseUrl: url, apiKey: "wp_text" })),
        Effect.flip
      )
      close()
      assert.strictEqual(requests[0]!.key, "wp_text")
      assert.strictEqual(error._tag === "UnauthorizedError" && error.stack, "UnauthorizedError: The API key is unknown")
    })
  )

  it.live("the client fails with a typed transport error, which no operation declares", () =>
    Effect.gen(function* () {
      const errorOf = Effect.fnUntraced(function* (status: number, body: object) {
        const { close, layer } = yield* Effect.promise(() => serverWith([[status, body]]))
        const error = yield* Effect.flatMap(Client, ({ locations }) =>
          locations.create({ payload: { name: "Once", identifier: "once" } })
        ).pipe(Effect.provide(layer), Effect.flip)
        close()
        return error
      })
      const limited = yield* errorOf(429, {
        _tag: "RateLimitExceededError",
        message: "slow",
        retryAfterSeconds: 7,
        requestId
      })
      assert.strictEqual(limited._tag === "RateLimitExceededError" && limited.retryAfterSeconds, 7)
      const statuses = { 405: "MethodNotAllowed", 408: "RequestTimeout", 412: "PreconditionFailed" } as const
      const others = { 413: "PayloadTooLarge", 414: "UriTooLong", 415: "UnsupportedMediaType" } as const
      const last = { 431: "HeadersTooLarge", 503: "ServiceUnavailable", 404: "RouteNotFound" } as const
      for (const [status, name] of Object.entries({ ...statuses, ...others, ...last })) {
        const body = {
          _tag: `${name}Error`,
          message: "no",
          requestId,
          ...(name === "MethodNotAllowed" ? { allowed: [] } : {})
        }
        assert.strictEqual((yield* errorOf(Number(status), body))._tag, `${name}Error`)
      }
    })
  )

  it.live("a PATCH is repeated without a key until the service is available", () =>
    Effect.gen(function* () {
      const { requests, close, layer } = yield* Effect.promise(() =>
        serverWith([unavailable, unavailable, [200, written]])
      )
      yield* Effect.flatMap(Client, ({ locations }) =>
        locations.update({ params: { uuid }, payload: { name: "Again" } })
      ).pipe(Effect.provide(layer))
      close()
      assert.deepStrictEqual(
        requests.map(({ headers, method }) => [method, headers["idempotency-key"]]),
        ["PATCH", "PATCH", "PATCH"].map((method) => [method, undefined])
      )
    })
  )

  it.live("a POST is repeated with one Idempotency-Key, and the next has another", () =>
    Effect.gen(function* () {
      const { requests, close, layer } = yield* Effect.promise(() =>
        serverWith([unavailable, [201, written], [201, written]])
      )
      const create = Effect.flatMap(Client, ({ locations }) =>
        locations.create({ payload: { name: "Once", identifier: "once" } })
      )
      yield* Effect.provide(Effect.andThen(create, create), layer)
      close()
      const [first, repeated, next] = requests.map(({ headers }) => headers["idempotency-key"])
      assert.match(String(first), /^[0-9a-f]{32}$/)
      assert.strictEqual(repeated, first)
      assert.notStrictEqual(next, first)
    })
  )

  it.live(
    "a write is repeated after Retry-After while its first attempt is not answered, and not after another 409",
    () =>
      Effect.gen(function* () {
        const inProgress = { _tag: "IdempotencyInProgressError", message: "later", requestId }
        const taken = { _tag: "UsernameNotUniqueError", message: "taken", value: "a", requestId }
        const { requests, close, layer } = yield* Effect.promise(() =>
          serverWith([unavailable, [409, inProgress, { "retry-after": "1" }], [201, written], [409, taken]])
        )
        const create = Effect.flatMap(Client, ({ users }) =>
          users.create({ payload: { username: "a", email: "a@example.com", firstName: "A", lastName: "B" } })
        )
        const began = performance.now()
        assert.strictEqual<string>((yield* Effect.provide(create, layer)).uuid, uuid)
        assert.isAtLeast(performance.now() - began, 950)
        assert.strictEqual((yield* Effect.flip(Effect.provide(create, layer)))._tag, "UsernameNotUniqueError")
        close()
        assert.lengthOf(requests, 4)
      })
  )

  it.live(
    "a request is sent four times at most, whatever fails, and once if it has to wait for more than a minute",
    () =>
      Effect.gen(function* () {
        const sent = Effect.fnUntraced(function* (...responses: ReadonlyArray<Response>) {
          const { requests, close, layer } = yield* Effect.promise(() => serverWith(responses))
          const error = yield* Effect.flatMap(Client, ({ locations }) =>
            locations.update({ params: { uuid }, payload: { name: "Again" } })
          ).pipe(Effect.provide(layer), Effect.flip)
          close()
          return [error._tag, requests.length]
        })
        const limited = { _tag: "RateLimitExceededError", message: "slow", retryAfterSeconds: 3600, requestId }
        const inProgress = { _tag: "IdempotencyInProgressError", message: "later", requestId }
        const unavailable = [503, { _tag: "ServiceUnavailableError", message: "later", requestId }] as const
        assert.deepStrictEqual(yield* sent(unavailable), ["ServiceUnavailableError", 4])
        const running = [409, inProgress, { "retry-after": "0" }] as const
        assert.deepStrictEqual(yield* sent(unavailable, running, unavailable, running), [
          "IdempotencyInProgressError",
          4
        ])
        assert.deepStrictEqual(yield* sent([429, limited, { "retry-after": "3600" }]), ["RateLimitExceededError", 1])
      })
  )

  it.live("a request whose answer breaks off is repeated, and its last failure is one of the connection", () =>
    Effect.gen(function* () {
      const broken = [200, written, { "content-length": "1000", connection: "close" }] as const
      const update = Effect.flatMap(Client, ({ locations }) =>
        locations.update({ params: { uuid }, payload: { name: "Again" } })
      )
      const once = yield* Effect.promise(() => serverWith([broken, [200, written]]))
      assert.deepStrictEqual(yield* Effect.provide(update, once.layer), { uuid })
      once.close()
      assert.lengthOf(once.requests, 2)
      const always = yield* Effect.promise(() => serverWith([broken]))
      const error = yield* Effect.flip(Effect.provide(update, always.layer))
      always.close()
      assert.strictEqual(error._tag === "HttpClientError" && error.reason._tag, "TransportError")
      assert.lengthOf(always.requests, 4)
    })
  )

  it.live("the response of a request can be read in every way, with or without a body", () =>
    Effect.gen(function* () {
      const withoutBody = [204, ""] as const
      const { close, layer } = yield* Effect.promise(() =>
        serverWith([[200, written, { etag: '"1"', "set-cookie": "a=1" }], [200, written], [200, written], withoutBody])
      )
      const { locations } = yield* Effect.provide(Client, layer)
      const request = locations.get({ params: { uuid }, query: { fields: ["name"] }, responseMode: "response-only" })
      const text = JSON.stringify(written)
      const streamed = yield* request
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(streamed.stream)), text)
      assert.strictEqual(streamed.headers["etag"], '"1"')
      assert.deepStrictEqual(Cookies.toRecord(streamed.cookies), { a: "1" })
      const web = Option.getOrThrow(HttpClientResponse.toWeb(yield* request))
      assert.strictEqual(yield* Effect.promise(() => web.text()), text)
      assert.deepStrictEqual(yield* (yield* request).json, written)
      const empty = yield* request
      assert.deepStrictEqual([empty.status, yield* empty.text], [204, ""])
      close()
    })
  )

  it.live("events end with an answer of a proxy that a later attempt gets as well, and go on after others", () =>
    Effect.gen(function* () {
      const follow = Effect.fnUntraced(function* (status: number) {
        const page = "<html>Not now</html>"
        const { requests, close, layer } = yield* Effect.promise(() =>
          serverWith([[status, page, { "content-type": "text/html", "retry-after": "3600" }]])
        )
        const following = yield* Effect.forkChild(Stream.runDrain(events()).pipe(Effect.provide(layer)))
        return { following, requests, close }
      })
      for (const status of [402, 451, 501]) {
        const { close, following, requests } = yield* follow(status)
        assert.isTrue(Exit.isFailure(yield* Fiber.await(following)), String(status))
        assert.lengthOf(requests, 1)
        close()
      }
      for (const status of [502, 503]) {
        const { close, following, requests } = yield* follow(status)
        yield* Effect.promise(() => until("the request has arrived", () => requests.length > 0))
        yield* Effect.sleep("500 millis")
        assert.isUndefined(following.pollUnsafe(), String(status))
        yield* Fiber.interrupt(following)
        assert.lengthOf(requests, 1)
        close()
      }
    })
  )

  it.live("the pages of the log have the cursor to go on from, also without events", () =>
    Effect.gen(function* () {
      const part = (cursor: string) => ({ _tag: "Success", data: [], cursor, more: false })
      const { close, layer, requests } = yield* Effect.promise(() =>
        serverWith([
          [200, part("b")],
          [200, part("c")]
        ])
      )
      const pages = yield* Stream.runCollect(Stream.take(eventPages({ after: "a" }), 2)).pipe(Effect.provide(layer))
      close()
      assert.deepStrictEqual(pages, [
        { cursor: "b", data: [] },
        { cursor: "c", data: [] }
      ])
      assert.deepStrictEqual(
        requests.map(({ url }) => new URL(url, "http://x").searchParams.get("after")),
        ["a", "b"]
      )
    })
  )

  it.live("a DELETE is repeated with one Idempotency-Key", () =>
    Effect.gen(function* () {
      const { requests, close, layer } = yield* Effect.promise(() => serverWith([unavailable, [200, written]]))
      yield* Effect.flatMap(Client, ({ locations }) => locations.delete({ params: { uuid } })).pipe(
        Effect.provide(layer)
      )
      close()
      const [first, repeated] = requests.map(({ headers }) => headers["idempotency-key"])
      assert.match(String(first), /^[0-9a-f]{32}$/)
      assert.strictEqual(repeated, first)
    })
  )

  it.live("the revocation of a key is repeated without an Idempotency-Key, so that it is done in parts", () =>
    Effect.gen(function* () {
      const { requests, close, layer } = yield* Effect.promise(() => serverWith([unavailable, [200, written]]))
      yield* Effect.flatMap(Client, ({ apiKeys }) =>
        apiKeys.revoke({ params: { uuid: ApiKeyId.make(uuid) }, query: { descendants: true } })
      ).pipe(Effect.provide(layer))
      close()
      assert.deepStrictEqual(
        requests.map(({ headers, method }) => [method, headers["idempotency-key"]]),
        ["DELETE", "DELETE"].map((method) => [method, undefined])
      )
    })
  )

  it.live("a POST that takes no Idempotency-Key is sent once", () =>
    Effect.gen(function* () {
      const { requests, close, layer } = yield* Effect.promise(() => serverWith([unavailable, [201, written]]))
      yield* Effect.flatMap(Client, ({ apiKeys }) =>
        apiKeys.create({ payload: { name: "Once", permissions: ["read:locations"] } })
      ).pipe(Effect.provide(layer), Effect.flip)
      close()
      assert.lengthOf(requests, 1)
      assert.isUndefined(requests[0]!.headers["idempotency-key"])
    })
  )

  it.live("a request that is redirected fails with the other address, which gets no request", () =>
    Effect.gen(function* () {
      const page = { _tag: "Success", data: [], pagination: { limit: 2, page: 1, total: 0, pageCount: 0 } }
      const other = yield* Effect.promise(() => serverWith([[200, page]]))
      const location = `${other.url}/base/v1/locations?limit=2`
      const { requests, close, layer, url } = yield* Effect.promise(() => serverWith([[308, "", { location }]]))
      const failure = yield* Effect.flatMap(Client, ({ locations }) => locations.list({ query: { limit: 2 } })).pipe(
        Effect.provide(layer),
        Effect.flip
      )
      close()
      other.close()
      assert.include(failure.message, `${url} redirects to ${other.url}/base (308 GET`)
      assert.lengthOf(requests, 1)
      assert.lengthOf(other.requests, 0)
    })
  )

  it.live("a plan sends records as NDJSON, and bytes as they are", () =>
    Effect.gen(function* () {
      const planned = {
        uuid,
        resource: "locations",
        mode: "partial",
        state: "ready",
        counts: { create: 1, update: 0, unchanged: 0, delete: 0, refused: 0 },
        guards: [],
        expiresAt: "2026-01-02T00:00:00.000Z"
      }
      const answer = [201, { _tag: "Success", data: planned }] as const
      const { requests, close, layer } = yield* Effect.promise(() => serverWith([answer, answer]))
      const query = { resource: "locations" } as const
      const { counts } = yield* Effect.provide(plan(query, [{ identifier: "a" }, { identifier: "b" }]), layer)
      yield* Effect.provide(plan(query, new TextEncoder().encode('{"identifier":"c"}')), layer)
      close()
      assert.strictEqual(counts.create, 1)
      assert.deepStrictEqual(
        requests.map(({ body }) => body),
        ['{"identifier":"a"}\n{"identifier":"b"}\n', '{"identifier":"c"}']
      )
      assert.strictEqual(requests[0]!.headers["content-type"], "application/x-ndjson")
    })
  )
})
