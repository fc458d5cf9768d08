import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { once } from "node:events"
import { promises } from "node:fs"
import { type IncomingMessage, request } from "node:http"
import { syncBuiltinESMExports } from "node:module"
import { connect } from "node:net"
import { MaxDownloads } from "../../src/http/routes/Files.ts"
import { begin, complete, pathOf, put, send } from "../support/requests/UploadParts.ts"
import { mebibyte } from "../support/requests/UploadRequests.ts"
import { eventually } from "../support/Until.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

/** More than the buffers of the kernel hold. */
const size = 24 * mebibyte

/** Uploads a file of zeros, and returns its path. */
const uploaded = Effect.fnUntraced(function* (bytes: number) {
  const { parts, uuid } = yield* begin(bytes)
  const sent = yield* Effect.forEach(parts, ({ partNumber, url }) =>
    Effect.map(
      put(url, Buffer.alloc(Math.min(8 * mebibyte, bytes - (partNumber - 1) * 8 * mebibyte))),
      ({ headers }) => ({ partNumber, eTag: headers.etag })
    )
  )
  return pathOf((yield* complete(uuid, sent)).body.data.url)
})

/** A download whose client reads nothing of the file until `finish`, which returns how many bytes it has. */
const slowDownload = Effect.fnUntraced(function* (path: string) {
  const { port } = yield* Wire
  const incoming = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const outgoing = request({ host: "127.0.0.1", port, path, agent: false }).end()
      const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]
      return incoming.on("error", () => undefined)
    }),
    (incoming) => Effect.sync(() => incoming.destroy())
  )
  const finish = Effect.promise(async () => {
    let received = 0
    for await (const chunk of incoming) received += Buffer.byteLength(chunk)
    return received
  })
  return { status: incoming.statusCode, finish, hangUp: Effect.sync(() => incoming.destroy()) }
})

const get = (path: string, method = "GET") => send(method, path, { key: null, headers: { range: "bytes=0-99999" } })

/** More downloads than `max` are rejected; they take nothing from other requests, and end with their connections. */
const limits = Effect.fnUntraced(function* (max: number, status: number, tag: string) {
  const path = yield* uploaded(size)
  const [first, ...others] = yield* Effect.replicateEffect(slowDownload(path), max)
  assert.deepStrictEqual(
    [first!, ...others].map(({ status }) => status),
    Array.from({ length: max }, () => 200)
  )
  const rejected = yield* get(path)
  assert.deepStrictEqual([rejected.status, rejected.body._tag, rejected.headers["retry-after"]], [status, tag, "1"])
  assert.include(rejected.body.message, `${max} downloads that are not read to the end`)

  assert.strictEqual((yield* get(path, "HEAD")).status, 200)
  const small = yield* send("GET", path, { key: null, headers: { range: "bytes=0-999" } })
  assert.strictEqual(small.status, 206)
  assert.strictEqual((yield* send("GET", "/v1/me")).status, 200)
  yield* uploaded(100_000)

  yield* first!.hangUp
  const answer = yield* eventually("a download has a place", get(path), ({ status }) => status !== rejected.status)
  assert.deepStrictEqual([answer.status, answer.headers["content-length"]], [206, "100000"])
  for (const { finish } of others) assert.strictEqual(yield* finish, size)
  // The downloads that were read to the end have no place any more.
  yield* Effect.replicateEffect(
    eventually("a download has a place", get(path), ({ status }) => status === 206),
    max
  )
}, Effect.scoped)

const few = Layer.succeed(MaxDownloads, { ofProcess: 5, ofNetwork: 3, waitMillis: 0 })

const patient = Layer.succeed(MaxDownloads, { ofProcess: 5, ofNetwork: 3, waitMillis: 60_000 })

layer(listening().pipe(Layer.provide(patient)), { excludeTestServices: true })("many downloads at once", (it) => {
  it.effect("many downloads are answered one after the other as the clients read them", () =>
    Effect.gen(function* () {
      const path = yield* uploaded(mebibyte)
      const answers = yield* Effect.all(
        Array.from({ length: 60 }, () => get(path)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [206])
    })
  )
})

layer(listening().pipe(Layer.provide(few)), { excludeTestServices: true })("downloads of a client network", (it) => {
  it.effect(
    "more of them than it may have are a 429 with Retry-After, until one is read or its connection closes",
    () => limits(3, 429, "RateLimitExceededError")
  )

  it.effect("pipelined downloads are counted each, until their connection closes", () =>
    Effect.gen(function* () {
      const { port } = yield* Wire
      const path = yield* uploaded(size)
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => connect(port, "127.0.0.1").on("error", () => undefined)),
        (socket) => Effect.sync(() => socket.destroy())
      )
      socket.write(`GET ${path} HTTP/1.1\r\nHost: waypost.test\r\n\r\n`.repeat(3))
      yield* eventually("all are counted", get(path), ({ status }) => status === 429)
      socket.destroy()
      yield* Effect.replicateEffect(
        eventually("a download has a place", slowDownload(path), ({ status }) => status === 200),
        3
      )
      assert.strictEqual((yield* get(path)).status, 429)
    }).pipe(Effect.scoped)
  )
})

layer(listening({ PUBLIC_URL: "https://api.example.com" }).pipe(Layer.provide(few)), { excludeTestServices: true })(
  "downloads of a process behind a proxy",
  (it) => {
    it.effect(
      "more of them than it may have are a 503 with Retry-After, until one is read or its connection closes",
      () => limits(5, 503, "ServiceUnavailableError")
    )
  }
)

/** A storage that does not say the size of a file until `answer`, and counts how often it was asked. */
const silentStorage = Effect.fnUntraced(function* (path: string) {
  const [, uuid] = /^\/files\/([^/]+)/.exec(path)!
  const answered = Promise.withResolvers<void>()
  const { stat } = promises
  let asked = 0
  const use = (used: typeof stat) => {
    promises.stat = used
    syncBuiltinESMExports()
  }
  const silent = async (file: string) => {
    if (file.endsWith(uuid!)) {
      asked++
      await answered.promise
    }
    return stat(file)
  }
  const answer = Effect.sync(() => answered.resolve())
  yield* Effect.acquireRelease(
    Effect.sync(() => use(silent as typeof stat)),
    () =>
      Effect.andThen(
        answer,
        Effect.sync(() => use(stat))
      )
  )
  const isAsked = (times: number) =>
    eventually(
      "the storage is asked",
      Effect.sync(() => asked),
      (count) => count === times
    )
  return { answer, isAsked }
})

layer(listening({ MAX_IN_FLIGHT: "4", PUBLIC_URL: "https://api.example.com" }), { excludeTestServices: true })(
  "requests for files that wait for the storage",
  (it) => {
    it.effect("as many requests for files as may be in flight take no place of a request with a key", () =>
      Effect.gen(function* () {
        const path = yield* uploaded(1000)
        const storage = yield* silentStorage(path)
        const waiting = yield* Effect.forkScoped(Effect.replicateEffect(get(path), 4, { concurrency: 4 }))
        yield* storage.isAsked(4)
        assert.strictEqual((yield* send("GET", "/v1/me")).status, 200)
        const { body, headers, status } = yield* get(path)
        assert.deepStrictEqual([status, body._tag, headers["retry-after"]], [503, "ServiceUnavailableError", "1"])
        assert.strictEqual(headers["access-control-allow-origin"], "*")
        yield* storage.answer
        for (const { status } of yield* Fiber.join(waiting)) assert.strictEqual(status, 206)
      }).pipe(Effect.scoped)
    )
  }
)

layer(listening({ MAX_IN_FLIGHT: "4" }), { excludeTestServices: true })(
  "requests of a client network for files that wait for the storage",
  (it) => {
    // Other systems have a single address of their own.
    it.effect.skipIf(process.platform !== "linux")(
      "more requests for files than a client network may have in flight are a 429, and leave places to others",
      () =>
        Effect.gen(function* () {
          const path = yield* uploaded(1000)
          const storage = yield* silentStorage(path)
          const waiting = yield* Effect.forkScoped(Effect.replicateEffect(get(path), 2, { concurrency: 2 }))
          yield* storage.isAsked(2)
          const { body, headers, status } = yield* get(path)
          assert.deepStrictEqual([status, body._tag, headers["retry-after"]], [429, "RateLimitExceededError", "1"])
          assert.strictEqual(headers["access-control-allow-origin"], "*")
          const other = yield* Effect.forkScoped(send("GET", path, { key: null, from: "127.0.0.2" }))
          yield* storage.isAsked(3)
          yield* storage.answer
          assert.strictEqual((yield* Fiber.join(other)).status, 200)
          for (const { status } of yield* Fiber.join(waiting)) assert.strictEqual(status, 206)
        }).pipe(Effect.scoped)
    )
  }
)
