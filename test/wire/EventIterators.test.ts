import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { HttpClientError } from "effect/http"
import { Client, events } from "../../src/client/Client.ts"
import { createClient } from "../../src/client/promise/PromiseClient.ts"
import { type Response, serverWith } from "../client/Responses.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

let count = 0

const create = Effect.flatMap(Wire, ({ send }) => {
  const body = JSON.stringify({ name: "Branch", identifier: `branch-${++count}` })
  return Effect.map(send("POST", "/v1/locations", { body }), (answer) => String(answer.body.data.uuid))
})

const address = Effect.map(Wire, ({ fullKey, port }) => ({ url: `http://127.0.0.1:${port}`, key: fullKey }))

interface Followed {
  readonly cursor: string
  readonly record: { readonly uuid: string }
}

/** The first events of an iterator, which has no end. */
const first = async (events: AsyncIterable<Followed>, size: number) => {
  const found: Array<Followed> = []
  for await (const event of events) {
    found.push(event)
    if (found.length === size) break
  }
  return found
}

/** The first event for the Effect client. */
const one = Stream.runCollect(Stream.take(events(), 1))

/** A server that returns the given responses. */
const served = (...responses: ReadonlyArray<Response>) =>
  Effect.acquireRelease(
    Effect.promise(() => serverWith(responses)),
    ({ close }) => Effect.sync(close)
  )

const uuidsOf = (found: ReadonlyArray<Followed>) => found.map(({ record }) => record.uuid)

layer(listening(), { excludeTestServices: true })("following the log with the typed clients", (it) => {
  it.effect("the promise client returns each event once, waits for the next, and goes on behind a cursor", () =>
    Effect.gen(function* () {
      const client = createClient(yield* address)
      const created = yield* Effect.replicateEffect(create, 3)
      const following = first(client.events.follow({ types: ["location.created"] }), 5)
      const later = yield* Effect.replicateEffect(create, 2)
      const found = yield* Effect.promise(() => following)
      assert.deepStrictEqual(uuidsOf(found), [...created, ...later])
      const after = found[1]!.cursor
      const rest = yield* Effect.promise(() => first(client.events.follow({ after, types: ["location.created"] }), 3))
      assert.deepStrictEqual(uuidsOf(rest), [...created.slice(2), ...later])
    })
  )

  it.effect("the Effect client returns each event once, waits for the next, and goes on behind a cursor", () =>
    Effect.gen(function* () {
      const record = yield* create
      const one = yield* Stream.runCollect(Stream.take(events({ record }), 1))
      assert.deepStrictEqual(uuidsOf(one), [record])
      const { send } = yield* Wire
      const renamed = send("PATCH", `/v1/locations/${record}`, { body: JSON.stringify({ name: "Other" }) })
      const next = Stream.runCollect(Stream.take(events({ record, after: one[0]!.cursor }), 1))
      const [updated] = yield* Effect.all([next, renamed], { concurrency: 2 })
      assert.deepStrictEqual(
        updated.map(({ type }) => type),
        ["location.updated"]
      )
    }).pipe(
      Effect.provide(Layer.unwrap(Effect.map(address, ({ key, url }) => Client.layer({ baseUrl: url, apiKey: key }))))
    )
  )

  it.effect(
    "both clients end with an error that a later attempt meets as well: a wrong address, and a request that is never sent",
    () =>
      Effect.gen(function* () {
        const { url } = yield* served([404, "<html>"])
        const ends = Effect.fnUntraced(function* (url: string, key = "wp_test") {
          const promise = yield* Effect.promise(() =>
            first(createClient({ url, key }).events.follow(), 1).then(
              String,
              ({ _tag }: { readonly _tag: string }) => _tag
            )
          )
          const error = yield* Effect.flip(Effect.provide(one, Client.layer({ baseUrl: url, apiKey: key })))
          return [promise, HttpClientError.isHttpClientError(error) && error.reason._tag]
        })
        assert.deepStrictEqual(yield* ends(url), ["UnexpectedResponseError", "StatusCodeError"])
        assert.deepStrictEqual(yield* ends("nowhere"), ["ConnectionError", "InvalidUrlError"])
        const withPassword = url.replace("//", "//me:secret@")
        assert.deepStrictEqual(yield* ends(withPassword), ["ConnectionError", "InvalidUrlError"])
        assert.deepStrictEqual(yield* ends(url, "wp_k€y"), ["InvalidArgumentError", "EncodeError"])
        // The port of another protocol, which fetch blocks.
        assert.deepStrictEqual(yield* ends("http://127.0.0.1:6000"), ["ConnectionError", "TransportError"])
      }).pipe(Effect.scoped)
  )

  it.effect("both clients go on after a connection that breaks within an answer", () =>
    Effect.gen(function* () {
      const record = yield* create
      const { send } = yield* Wire
      const page = yield* send("GET", `/v1/events?record=${record}&wait=25`)
      const broken = [200, '{"_tag":"Success","data":[', { "content-length": "1000", connection: "close" }] as const
      const [a, b] = [yield* served(broken, [200, page.text]), yield* served(broken, [200, page.text])]
      const client = createClient({ url: a.url, key: "wp_test" })
      const found = yield* Effect.all(
        [
          Effect.promise(() => first(client.events.follow(), 1)),
          Effect.provide(one, Client.layer({ baseUrl: b.url, apiKey: "wp_test" }))
        ],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(found.map(uuidsOf), [[record], [record]])
    }).pipe(Effect.scoped)
  )

  it.effect("the promise client ends with an error for a cursor that is gone, and when its signal is aborted", () =>
    Effect.gen(function* () {
      const expired = [410, { _tag: "CursorExpiredError", message: "gone", requestId: "1" }] as const
      const tagOf = (run: Promise<unknown>) =>
        Effect.promise(() => run.then(String, (error: { readonly _tag: string }) => error._tag))
      const { url } = yield* served(expired)
      const gone = createClient({ url, key: "wp_test" })
      assert.strictEqual(yield* tagOf(first(gone.events.follow({ after: "x" }), 1)), "CursorExpiredError")
      const client = createClient(yield* address)
      const abort = new AbortController()
      const waiting = first(client.events.follow({ types: ["post.deleted"] }, { signal: abort.signal }), 1)
      abort.abort()
      assert.strictEqual(yield* tagOf(waiting), "AbortedError")
    }).pipe(Effect.scoped)
  )
})
