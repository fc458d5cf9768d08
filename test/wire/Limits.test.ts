import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { connect, type Socket } from "node:net"
import { Sql } from "../../src/sql/Sql.ts"
import * as DatabaseProxy from "../support/wire/DatabaseProxy.ts"
import { layer as listening, layerOn, Wire } from "../support/wire/Wire.ts"
import { eventually } from "../support/Until.ts"

const live = { excludeTestServices: true }
const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const until = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  eventually("the expected answer arrives", ask, holds)

/** A post of more than a hundredth of the unread bytes of a process; the service has the locales en and nl. */
const largePost = {
  type: "news",
  translations: ["en", "nl"].map((locale) => ({ locale, title: "Large", body: `<p>${"€".repeat(120_000)}</p>` }))
}

/** A request of a key with an incomplete body, which is in flight until the socket is destroyed. */
const hang = (key: string, path = "/v1/locations", header = "") =>
  Effect.flatMap(Wire, ({ port }) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const socket: Socket = connect(port, "127.0.0.1")
        socket.on("error", () => undefined)
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${key}\r\n${header}` +
            `Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
        )
        return socket
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )
  )

/**
 * Uses up the share of a key with requests whose bodies are incomplete, and returns the rejection of another one. A question takes a place
 * for a moment, in which the request before it can be rejected, so each follows one more of them.
 */
const fill = (key: string, path?: string, headerOf: (count: number) => string = () => "") =>
  Effect.flatMap(Wire, ({ send }) => {
    let count = 0
    const next = Effect.suspend(() => hang(key, path, headerOf(++count)))
    return until(Effect.andThen(next, send("GET", "/v1/me", { key })), ({ status }) => status === 429)
  })

/** Keeps requests waiting for a lock of the database. */
const blocked = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const { send } = yield* Wire
  const lock = Effect.andThen(pooled`lock table locations in access exclusive mode`, Effect.never)
  yield* Effect.forkScoped(pooled.withTransaction(lock))
  yield* Effect.replicateEffect(Effect.forkScoped(Effect.forever(send("GET", "/v1/locations"))), 4)
})

layer(listening({ MAX_IN_FLIGHT: "4", KEY_SHARE: "1" }), live)("in-flight limit", (it) => {
  it.effect(
    "a request above the in-flight limit is a 503 with Retry-After, and health checks and metrics still succeed",
    () =>
      Effect.gen(function* () {
        const { send } = yield* Wire
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* blocked
            const answer = yield* until(send("GET", "/v1/me"), ({ status }) => status === 503)
            assert.strictEqual(answer.status, 503)
            assert.strictEqual(answer.body._tag, "ServiceUnavailableError")
            assert.isAtLeast(Number(answer.headers["retry-after"]), 1)
            assert.isString(answer.headers["x-request-id"])
            assert.strictEqual(answer.headers["x-content-type-options"], "nosniff")
            assert.strictEqual((yield* send("GET", "/healthz", { key: null })).status, 200)
            // The database of a busy machine may not answer in time.
            yield* until(send("GET", "/readyz", { key: null }), ({ status }) => status === 200)
            assert.strictEqual((yield* send("GET", "/metrics", { key: null })).status, 200)
          })
        )
        const after = yield* until(send("GET", "/v1/me"), ({ status }) => status === 200)
        assert.strictEqual(after.status, 200)
      })
  )
})

layer(listening({ MAX_IN_FLIGHT: "4", KEY_SHARE: "0.5" }), live)("share of a key", (it) => {
  it.effect("a key above its share of requests in flight gets a 429 with Retry-After, another key does not", () =>
    Effect.gen(function* () {
      const { key, send } = yield* Wire
      const [busy, calm] = [yield* key(["create:locations"]), yield* key(["create:locations"])]
      yield* Effect.scoped(
        Effect.gen(function* () {
          const answer = yield* fill(busy)
          assert.strictEqual(answer.body._tag, "RateLimitExceededError")
          assert.strictEqual(answer.headers["retry-after"], "1")
          assert.strictEqual((yield* send("GET", "/v1/me", { key: calm })).status, 200)
        })
      )
      const after = yield* until(send("GET", "/v1/me", { key: busy }), ({ status }) => status === 200)
      assert.strictEqual(after.status, 200)
    })
  )

  it.effect("files of plans with an Idempotency-Key that have not arrived take no places of other keys", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { key, send } = yield* Wire
        const slow = yield* Effect.replicateEffect(
          key(["read:locations", "create:locations", "update:locations", "delete:locations"]),
          2
        )
        for (const [index, one] of slow.entries())
          yield* fill(one, "/v1/plans?resource=locations", (count) => `Idempotency-Key: slow-${index}-${count}\r\n`)
        const calm = yield* key(["read:locations"])
        assert.strictEqual((yield* send("GET", "/v1/locations", { key: calm })).status, 200)
      })
    )
  )

  it.effect("requests whose bodies have not arrived take no places of other keys", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { key, send } = yield* Wire
        const slow = yield* Effect.replicateEffect(key(["create:locations"]), 3)
        for (const one of slow) yield* fill(one)
        const calm = yield* key(["read:locations"])
        assert.strictEqual((yield* send("GET", "/v1/locations", { key: calm })).status, 200)
      })
    )
  )
})

/** A connection to the service, and the text that it has received. */
const open = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect(port, "127.0.0.1").on("error", () => undefined)
      let received = ""
      socket.on("data", (chunk) => (received += String(chunk)))
      return { socket, text: () => received }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

/** The head of a request with the key that has every permission. */
const head = (method: string, path: string, body = "") =>
  Effect.map(
    Wire,
    ({ fullKey }) =>
      `${method} ${path} HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${fullKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  )

const bulkOf = (count: number, name: string) =>
  JSON.stringify({
    operations: Array.from({ length: count }, (_, index) => ({
      op: "create",
      data: { name: "Branch", identifier: `${name}-${index}` }
    }))
  })

layer(listening({ KEY_SHARE: "0.01", LOCALES: "en,nl" }), live)("a share of fewer bytes than one answer", (it) => {
  it.effect("a key gets an answer with more bytes than its share of unread ones, if it has read the others", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const created = yield* send("POST", "/v1/posts", { body: JSON.stringify(largePost) })
      assert.strictEqual(created.status, 201, created.text.slice(0, 300))
      for (const _ of [1, 2]) {
        const post = yield* send("GET", `/v1/posts/${created.body.data.uuid}`)
        assert.strictEqual(post.status, 200, post.text.slice(0, 300))
        assert.isAbove(Number(post.headers["content-length"]), 700_000)
      }
    })
  )

  it.effect(
    "a key whose share of unread bytes is used up gets 429 for large reads and for writes, which are not done",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { port, send } = yield* Wire
          const created = yield* send("POST", "/v1/posts", { body: JSON.stringify(largePost) })
          const path = `/v1/posts/${created.body.data.uuid}`
          const begun = yield* open(port)
          const body = bulkOf(300, "begun")
          begun.socket.write(`${yield* head("POST", "/v1/locations/bulk", body)}${body.slice(0, 10)}`)
          // The key of the write is checked before that of a request that is sent later.
          yield* send("GET", "/v1/me")
          const unread = yield* open(port)
          // The second answer is not sent before the first, a stream, has ended.
          for (const asked of ["/v1/events/stream", path]) unread.socket.write(yield* head("GET", asked))
          const rejected = yield* until(send("GET", path), ({ status }) => status === 429)
          assert.include(rejected.body.message, "have not read")
          const late = yield* send("POST", "/v1/locations/bulk", { body: bulkOf(1, "late") })
          assert.deepStrictEqual([late.status, late.headers["retry-after"]], [429, "1"])
          begun.socket.write(body.slice(10))
          const written = yield* until(Effect.sync(begun.text), (text) => text.includes('"counts":{"201":300}'))
          assert.match(written, /^HTTP\/1.1 200 /)
          unread.socket.destroy()
          const read = yield* until(send("GET", path), ({ status }) => status === 200)
          assert.strictEqual(read.status, 200)
          const found = yield* send("GET", "/v1/locations?filter=identifier:equals:late-0")
          assert.deepStrictEqual(found.body.data, [])
        })
      )
  )
})

layer(listening({ LOCALES: "en,nl" }), live)("unread answers of several keys", (it) => {
  it.effect("two keys with unread answers leave room for an answer of another key, and a 429 names the service", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { key, port, send } = yield* Wire
        const posts = yield* Effect.replicateEffect(send("POST", "/v1/posts", { body: JSON.stringify(largePost) }), 19)
        const post = `/v1/posts/${posts[0]!.body.data.uuid}`
        const page = "/v1/posts?limit=19"
        const [busy, second, calm] = yield* Effect.replicateEffect(key(["read:posts"]), 3)
        /** Leaves answers unread until the key gets no more of a path. */
        const leaveUnread = Effect.fnUntraced(function* (owner: string, path: string) {
          const ask = Effect.gen(function* () {
            const { socket, text } = yield* open(port)
            yield* Effect.sync(() => {
              // Reads the first bytes only.
              socket.once("data", () => socket.pause())
              socket.write(`GET ${path} HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${owner}\r\n\r\n`)
            })
            return yield* until(Effect.sync(text), (received) => received.startsWith("HTTP/1.1"))
          })
          return yield* Effect.repeat(ask, { until: (received) => received.startsWith("HTTP/1.1 429"), times: 99 })
        })
        assert.include(yield* leaveUnread(busy!, page), "This key has too many answers")
        assert.include(yield* leaveUnread(second!, page), "The service has too many answers")
        assert.include(yield* leaveUnread(second!, post), "The service has too many answers")
        const read = yield* send("GET", post, { key: calm! })
        assert.strictEqual(read.status, 200, read.text.slice(0, 300))
        assert.isAbove(read.text.length, 200_000)
      })
    )
  )
})

layer(listening({ RATE_LIMIT_PER_SECOND: "3" }), live)("rate limit", (it) => {
  it.effect("a key above its rate limit gets a 429 with Retry-After, another key does not", () =>
    Effect.gen(function* () {
      const { key, send } = yield* Wire
      const [busy, calm] = [yield* key(["read:locations"]), yield* key(["read:locations"])]
      const [time, answers] = yield* Effect.timed(
        Effect.replicateEffect(send("GET", "/v1/me", { key: busy }), 40, { concurrency: 10 })
      )
      const limited = answers.filter(({ status }) => status === 429)
      const admitted = answers.filter(({ status }) => status === 200)
      assert.isAtLeast(admitted.length, 3)
      assert.isAtMost(admitted.length, 3 * (1 + Duration.toSeconds(time)))
      assert.isNotEmpty(limited)
      assert.strictEqual(limited.length + admitted.length, answers.length)
      for (const { body, headers } of limited) {
        assert.strictEqual(body._tag, "RateLimitExceededError")
        assert.isAtLeast(body.retryAfterSeconds, 1)
        assert.strictEqual(headers["retry-after"], String(body.retryAfterSeconds))
      }
      for (const { headers } of answers) {
        assert.match(headers["ratelimit-policy"] as string, /^"[^"]+";q=3;w=1$/)
        assert.match(headers["ratelimit"] as string, /^"[^"]+";r=[0-3];t=\d+$/)
      }
      for (const [path, status] of [
        ["/v1/locations?limit=0", 400],
        ["/v1/locations/0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", 404],
        ["/v1/me", 200]
      ] as const) {
        const answer = yield* send("GET", path, { key: calm })
        assert.strictEqual(answer.status, status)
        assert.isString(answer.headers["ratelimit"], path)
      }
    })
  )

  it.effect("authentication and permission are checked before the rate limit, and the rate limit before the body", () =>
    Effect.gen(function* () {
      const { key, send } = yield* Wire
      const busy = yield* key(["read:locations", "create:locations"])
      const flood = Effect.replicateEffect(send("GET", "/v1/me", { key: busy }), 10, { concurrency: 10 })
      const answers = Effect.all(
        [
          send("GET", "/v1/me", { key: null }),
          send("GET", "/v1/api-keys", { key: busy }),
          send("POST", "/v1/locations", { key: busy, body: "{" })
        ],
        { concurrency: 3 }
      )
      // On a busy machine the bucket may have its next token before the last request arrives.
      const [noKey, forbidden, limited] = yield* Effect.repeat(Effect.andThen(flood, answers), {
        until: ([, , { status }]) => status === 429,
        times: 20
      })
      assert.deepStrictEqual([noKey.status, forbidden.status, limited.status], [401, 403, 429])
    })
  )
})

layer(layerOn(DatabaseProxy.sql, { RATE_LIMIT_PER_SECOND: "1000" }), live)("rate limit without a database", (it) => {
  it.effect("a request is a 503 while the rate limit cannot reach the database, and succeeds once it can", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const proxy = yield* DatabaseProxy.DatabaseProxy
      yield* until(send("GET", "/v1/me"), ({ status }) => status === 200)
      yield* proxy.cut
      // The key is cached, so only the rate limit queries the database.
      const answer = yield* until(send("GET", "/v1/me"), ({ status }) => status !== 200)
      assert.strictEqual(answer.status, 503)
      assert.strictEqual(answer.body._tag, "ServiceUnavailableError")
      yield* proxy.restore
      const back = yield* until(send("GET", "/v1/me"), ({ status }) => status === 200)
      assert.isString(back.headers["ratelimit"])
    })
  )
})

layer(layerOn(DatabaseProxy.sql), live)("failures", (it) => {
  it.effect("an unexpected failure is a 500 with the request id in header, body and log, and without the cause", () =>
    Effect.gen(function* () {
      const { logs, send } = yield* Wire
      const { pooled } = yield* Sql
      const rename = (from: string, to: string) => pooled.unsafe(`alter table ${from} rename to ${to}`)
      yield* rename("locations", "gone")
      const answer = yield* send("GET", "/v1/locations?sortBy=name", { headers: { "x-request-id": "trace-me:1" } })
      yield* rename("gone", "locations")
      assert.strictEqual(answer.status, 500)
      assert.deepStrictEqual(Object.keys(answer.body).toSorted(), ["_tag", "message", "requestId"])
      assert.strictEqual(answer.body._tag, "InternalServerError")
      assert.strictEqual(answer.body.requestId, "trace-me:1")
      assert.strictEqual(answer.headers["x-request-id"], "trace-me:1")
      assert.notMatch(answer.text, /select|relation|postgres|node_modules|locations/i)
      const logged = logs.filter((line) => line.includes("trace-me:1"))
      assert.isAtLeast(logged.length, 1)
      assert.isTrue(logged.some((line) => line.includes("locations")))
    })
  )

  it.effect("a request without a valid request id gets a new one", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const given = ["", "a".repeat(129), "with space", 'quote"d', "semi;colon", "<b>"]
      const seen = new Set<unknown>()
      for (const id of [undefined, ...given]) {
        const headers = id === undefined ? {} : { "x-request-id": id }
        const answer = yield* send("GET", "/v1/nothing", { headers })
        assert.match(answer.headers["x-request-id"] as string, uuidForm)
        seen.add(answer.headers["x-request-id"])
      }
      assert.strictEqual(seen.size, given.length + 1)
      const echoed = yield* send("GET", "/v1/locations", { key: null, headers: { "x-request-id": "a".repeat(128) } })
      assert.strictEqual(echoed.headers["x-request-id"], "a".repeat(128))
    })
  )

  it.effect("an unreachable database is a 503 with Retry-After, also on /readyz, until it is reachable again", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const proxy = yield* DatabaseProxy.DatabaseProxy
      yield* proxy.cut
      const ready = yield* until(send("GET", "/readyz", { key: null }), ({ status }) => status === 503)
      assert.strictEqual(ready.status, 503)
      assert.strictEqual((yield* send("GET", "/healthz", { key: null })).status, 200)
      const record = "/v1/locations/0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
      const body = `{"name":"Away","identifier":"away"}`
      for (const [method, path, sent] of [
        ["GET", "/v1/me", {}],
        ["GET", "/v1/locations", {}],
        ["GET", "/v1/locations?sortBy=name&page=200", {}],
        ["GET", "/v1/locations?filter=name:contains:a", {}],
        ["POST", "/v1/locations", { body }],
        ["PATCH", record, { body }],
        ["PATCH", record, { body, headers: { "if-match": `"a"` } }],
        ["DELETE", record, {}],
        ["POST", "/v1/api-keys", { body: `{"name":"Away","permissions":["read:locations"]}` }]
      ] as const) {
        const answer = yield* send(method, path, sent)
        assert.strictEqual(answer.status, 503, `${method} ${path} ${answer.text}`)
        assert.strictEqual(answer.body._tag, "ServiceUnavailableError")
        assert.isAtLeast(Number(answer.headers["retry-after"]), 1)
      }
      yield* proxy.restore
      const back = yield* until(send("GET", "/readyz", { key: null }), ({ status }) => status === 200)
      assert.strictEqual(back.status, 200)
      const list = yield* until(send("GET", "/v1/locations"), ({ status }) => status === 200)
      assert.strictEqual(list.status, 200)
    })
  )
})
