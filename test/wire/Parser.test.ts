import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { isInRequestLine } from "../../src/http/transport/Rejections.ts"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { rawRequests } from "./RawRequests.ts"
import { atBest, eventually, until } from "../support/Until.ts"
import { type Answer, layer as listening, Wire } from "../support/wire/Wire.ts"

/** Checks the error envelope, which even responses to unparsable requests have. */
const assertEnvelope = (answer: Answer, label: string) => {
  assert.strictEqual(answer.headers["content-type"], "application/json", label)
  assert.isString(answer.body?._tag, label)
  assert.isString(answer.body?.message, label)
  assert.notStrictEqual(answer.body._tag, "Success", label)
  assert.strictEqual(answer.body.requestId, answer.headers["x-request-id"], label)
}

const host = "Host: waypost.test\r\n"

/** The options of tests that wait for seconds: they wait at the same time. */
const together = { concurrent: true }

/**
 * The statuses of requests that one connection sends, each after an answer to the one before, once the service has closed both
 * directions of it.
 */
const statusesOf = async (port: number, requests: ReadonlyArray<string>) => {
  // Half of it stays open, as that of a client that never closes its connections.
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
  let text = ""
  const statuses = () => [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => Number(status))
  let sent = 0
  const next = () => {
    if (statuses().length === sent && sent < requests.length) socket.write(requests[sent++]!)
  }
  socket.on("data", (chunk) => {
    text += String(chunk)
    next()
  })
  next()
  await once(socket, "end")
  socket.on("error", () => undefined)
  const isReset = () => {
    // Empty lines before a request are ignored.
    socket.write("\r\n")
    return socket.destroyed
  }
  await until("the service resets the connection", isReset, 5)
  return statuses()
}

layer(listening(), { excludeTestServices: true })("HTTP parser", (it) => {
  it.effect.each([...rawRequests])("$label gets a single response: $becomes", ({ becomes, bytes, label }) =>
    Effect.gen(function* () {
      const { fullKey, raw } = yield* Wire
      const answer = yield* raw(bytes(fullKey))
      if (becomes === "closed") return assert.strictEqual(answer.answers, 0, label)
      assert.deepStrictEqual([answer.status, answer.answers], [becomes, 1], label)
      assertEnvelope(answer, label)
      if (becomes !== 400) return
      assert.strictEqual(answer.body._tag, "InvalidRequestError")
      assert.isArray(answer.body.issues)
    })
  )

  it("the corpus has at least 70 raw requests", () => assert.isAtLeast(rawRequests.length, 70))

  it.effect("more than 16 KiB of headers gets a 431 in the envelope", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      const answer = yield* raw(`GET / HTTP/1.1\r\n${host}X-Long: ${"a".repeat(20_000)}\r\n\r\n`)
      assert.strictEqual(answer.status, 431)
      assertEnvelope(answer, "431")
    })
  )

  it.effect("a request line of more than 16 KiB gets a 414 in the envelope", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      const long = `GET /v1/locations?filter=name:equals:${"a".repeat(20_000)} HTTP/1.1\r\n${host}\r\n`
      const answer = yield* raw(long)
      assert.strictEqual(answer.status, 414)
      assert.strictEqual(answer.body._tag, "UriTooLongError")
      assertEnvelope(answer, "414")
    })
  )

  it.each([
    ["the request line in one packet", true, 0, 30_000],
    ["the end of the request line", true, 9_000, 30_000],
    ["the begin of the request line", true, 0, 17_000],
    ["one header", false, 20_030, 50_000],
    ["the end of a header", false, 30_000, 50_000],
    ["the begin of a header", false, 20_030, 37_000],
    ["the middle of a line", false, 9_000, 18_000]
  ] as const)("a packet with %s shows whether the request line is too long: %s", (_, isLine, start, end) => {
    const request = Buffer.from(
      `GET /${"a".repeat(20_000)} HTTP/1.1\r\nX-Long: ${"b".repeat(20_000)}\r\nHost: a\r\n\r\n`
    )
    const rawPacket = request.subarray(start, end)
    // The parser stops at the end of the value that exceeds the limit, or of the packet.
    const value = start < 20_005 ? request.indexOf(" HTTP") : request.indexOf("\r\nHost")
    const bytesParsed = Math.min(value - start, rawPacket.length)
    assert.strictEqual(isInRequestLine(Object.assign(new Error(), { rawPacket, bytesParsed })), isLine)
  })

  it.effect.each(["alone", "behind another one"])(
    "a request with an unknown Expect is a 400 that closes its connection, also of a client that does not close it: %s",
    (place) =>
      Effect.gen(function* () {
        const { fullKey, port } = yield* Wire
        const before = place === "alone" ? "" : `GET /v1/me HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\n\r\n`
        const request = `${before}GET /healthz HTTP/1.1\r\n${host}Expect: a-miracle\r\n\r\n`
        const statuses = yield* Effect.promise(() => statusesOf(port, [request]))
        assert.deepStrictEqual(statuses, place === "alone" ? [400] : [200, 400])
      })
  )

  it.effect("a request with an unknown Expect is answered with the request id of the client", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      const request = `GET /healthz HTTP/1.1\r\n${host}Expect: a-miracle\r\nX-Request-Id: expecting:1\r\n\r\n`
      const answer = yield* raw(request)
      assert.strictEqual(answer.headers["x-request-id"], "expecting:1")
      assertEnvelope(answer, "Expect")
    })
  )

  it.effect("responses of the parser have a request id and nosniff", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      const requests = [
        `FOO / HTTP/1.1\r\n${host}\r\n`,
        `GET / HTTP/1.1\r\n${host}X-Long: ${"a".repeat(20_000)}\r\n\r\n`,
        `GET /healthz HTTP/1.1\r\n${host}Expect: a-miracle\r\n\r\n`
      ]
      for (const request of requests) {
        const { headers, status } = yield* raw(request)
        assert.isString(headers["x-request-id"], `${status}`)
        assert.strictEqual(headers["x-content-type-options"], "nosniff", `${status}`)
      }
    })
  )

  it.effect("a response with Connection: close is the last one, even if more data was sent", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      for (const rest of ["{}", "\r\nnoise\r\n\r\n", `GET /healthz HTTP/1.1\r\n${host}\r\n`]) {
        const { answers } = yield* raw(`GET /v1/nothing HTTP/1.1\r\n${host}Connection: close\r\n\r\n${rest}`)
        assert.strictEqual(answers, 1, rest)
      }
    })
  )

  it.effect(
    "bytes that are no request, behind requests that are being answered, are rejected once those have their answers",
    () =>
      Effect.gen(function* () {
        const { fullKey, port, send } = yield* Wire
        const creation = (identifier: string) => {
          const body = JSON.stringify({ name: "Before noise", identifier })
          return (
            `POST /v1/locations HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\nContent-Type: application/json\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${body}`
          )
        }
        const statuses = yield* Effect.promise(() =>
          statusesOf(port, [`${creation("before-noise-1")}${creation("before-noise-2")}X`])
        )
        assert.deepStrictEqual(statuses, [201, 201, 400])
        const found = yield* send("GET", "/v1/locations?filter=name:equals:Before%20noise")
        assert.strictEqual(found.body.data.length, 2)
      })
  )

  it.effect("a malformed body, behind a request that is being answered, is rejected once that has its answer", () =>
    Effect.gen(function* () {
      const { fullKey, port } = yield* Wire
      const first = `GET /v1/me HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\n\r\n`
      const second = `POST /v1/locations HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\nTransfer-Encoding: chunked\r\n\r\n`
      const statuses = yield* Effect.promise(() => statusesOf(port, [`${first}${second}zz\r\n`]))
      assert.deepStrictEqual(statuses, [200, 400])
    })
  )

  it.effect("a malformed body of a request that is rejected for its key gets no second answer", () =>
    Effect.gen(function* () {
      const { fullKey, port } = yield* Wire
      const first = `GET /v1/me HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\n\r\n`
      const second = `POST /v1/locations HTTP/1.1\r\n${host}Authorization: wrong\r\nTransfer-Encoding: chunked\r\n\r\n`
      const statuses = yield* Effect.promise(() => statusesOf(port, [`${first}${second}zz\r\n`]))
      assert.deepStrictEqual(statuses, [200, 401])
    })
  )

  it.effect(
    "a request whose headers arrived late, behind one that waits for events, gets its answer only",
    () =>
      Effect.gen(function* () {
        const { fullKey, port, send } = yield* Wire
        const statuses = yield* Effect.promise(async () => {
          const socket = connect({ port, host: "127.0.0.1" })
          let text = ""
          socket.on("data", (chunk) => (text += String(chunk)))
          socket.write(
            `GET /v1/events?wait=25&types=group.created HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\n\r\nGET /healthz HTTP/1.1\r\n`
          )
          await sleep(7000)
          socket.write(`${host}\r\n`)
          // The waiting one is answered once there is an event.
          await Effect.runPromise(send("POST", "/v1/groups", { body: JSON.stringify({ name: "Awaited" }) }))
          await once(socket, "end")
          return [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => Number(status))
        })
        assert.deepStrictEqual(statuses, [200, 200])
      }),
    together
  )

  it.effect("headers that arrive while the process is busy for longer than their time limit are not late", () =>
    Effect.gen(function* () {
      const { port } = yield* Wire
      const answer = yield* Effect.promise(async () => {
        const socket = connect({ port, host: "127.0.0.1" })
        const answered = text(socket)
        socket.write("GET /healthz HTTP/1.1\r\n")
        // The service has accepted the connection.
        await sleep(500)
        // The timers run next, and the sockets are read after them.
        setImmediate(() => {
          socket.write(`${host}Connection: close\r\n\r\n`)
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5500)
        })
        return answered
      })
      assert.match(answer, /^HTTP\/1.1 200 /)
    }).pipe(atBest)
  )

  it.effect("a connection that sends noise behind a stream that goes on is closed", () =>
    Effect.gen(function* () {
      const { fullKey, port } = yield* Wire
      yield* Effect.promise(async () => {
        const socket = connect({ port, host: "127.0.0.1" })
        const closed = once(socket, "close")
        socket.on("error", () => undefined).resume()
        socket.write(`GET /v1/events/stream HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\n\r\nX`)
        const noise = setInterval(() => socket.write("X".repeat(10_000)), 20)
        await closed
        clearInterval(noise)
      })
    })
  )

  it.effect(
    "a part of a request, behind one that waits for events, is a 408 once the waiting one has its answer",
    () =>
      Effect.gen(function* () {
        const { fullKey, port } = yield* Wire
        const waiting = `GET /v1/events?wait=7&types=user.created HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\n\r\n`
        const statuses = yield* Effect.promise(() => statusesOf(port, [`${waiting}GET /healthz HTTP/1.1\r\n`]))
        assert.deepStrictEqual(statuses, [200, 408])
      }).pipe(atBest),
    together
  )

  it.effect("a client that hangs up within a request, behind one that waits for events, ends the connection", () =>
    Effect.gen(function* () {
      const { fullKey, port } = yield* Wire
      const begun = performance.now()
      const text = yield* Effect.promise(async () => {
        const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
        socket.end(
          `GET /v1/events?wait=20&types=user.created HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\n\r\nGET /heal`
        )
        const chunks: Array<Buffer> = []
        socket.on("data", (chunk) => chunks.push(chunk))
        await once(socket, "end")
        socket.destroy()
        return String(Buffer.concat(chunks))
      })
      assert.strictEqual(text, "")
      assert.isBelow(performance.now() - begun, 10_000)
    }).pipe(atBest)
  )

  it.effect(
    "headers that do not arrive within six seconds get a 408 in the envelope",
    () =>
      Effect.gen(function* () {
        const { raw } = yield* Wire
        const begun = performance.now()
        const answer = yield* raw(`GET /healthz HTTP/1.1\r\n${host}X-Slow: `)
        assert.strictEqual(answer.status, 408)
        assertEnvelope(answer, "408")
        assert.isBelow(performance.now() - begun, 7000)
      }).pipe(atBest),
    together
  )

  it.effect.each(["h2c", "websocket", "anything"])(
    "a request with Upgrade: %s is an ordinary one: its body is read, its connection is kept, and is closed when it is idle",
    (upgrade) =>
      Effect.gen(function* () {
        const { fullKey, port } = yield* Wire
        const body = JSON.stringify({ name: "Upgrade", identifier: crypto.randomUUID() })
        const upgrading = `${host}Authorization: ${fullKey}\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n`
        const begun = performance.now()
        const statuses = yield* Effect.promise(() =>
          statusesOf(port, [
            `GET /healthz HTTP/1.1\r\n${upgrading}\r\n`,
            `POST /v1/locations HTTP/1.1\r\n${upgrading}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
            `GET /v1/nothing HTTP/1.1\r\n${host}\r\n`
          ])
        )
        assert.deepStrictEqual(statuses, [200, 201, 404])
        assert.isBelow(performance.now() - begun, 12_000)
      }).pipe(atBest),
    together
  )

  it.effect("the service still serves requests after malformed ones, and supports Expect: 100-continue", () =>
    Effect.gen(function* () {
      const { fullKey, raw } = yield* Wire
      const body = `{"name":"Continue","identifier":"continue"}`
      const answer = yield* raw(
        `POST /v1/locations HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n${body}`
      )
      assert.strictEqual(answer.status, 201)
      assert.strictEqual(answer.body._tag, "Success")
    })
  )
})

/** How many creations of locations the metrics count with a status. */
const created = (status: number) =>
  Effect.map(
    Effect.flatMap(Wire, ({ send }) => send("GET", "/metrics", { key: null })),
    ({ text }) => {
      const labels = `method="POST",route="/v1/locations",status="${status}"`
      return Number(new RegExp(`^http_request_duration_seconds_count\\{${labels}\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0)
    }
  )

const quick = Layer.succeed(TimeLimits, { ...TimeLimits.defaultValue(), body: 1000 })

layer(listening().pipe(Layer.provide(quick)), { excludeTestServices: true })("a body that is late", (it) => {
  it.effect("gets a 408 with the request id of the client, and is counted as 408", () =>
    Effect.gen(function* () {
      const { fullKey, raw } = yield* Wire
      const before = { late: yield* created(408), hungUp: yield* created(499) }
      const answer = yield* raw(
        `POST /v1/locations HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\nX-Request-Id: late-body:1\r\n` +
          "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
      )
      assert.deepStrictEqual([answer.status, answer.headers["x-request-id"]], [408, "late-body:1"])
      assertEnvelope(answer, "408")
      yield* eventually("the request is counted", created(408), (count) => count === before.late + 1)
      assert.strictEqual(yield* created(499), before.hungUp)
    })
  )

  it.effect("a rejection is no answer to the request before it, which gets its own", () =>
    Effect.gen(function* () {
      const { fullKey, port } = yield* Wire
      const first = `GET /v1/events?wait=3&types=user.created HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\n\r\n`
      const second =
        `POST /v1/locations HTTP/1.1\r\n${host}Authorization: ${fullKey}\r\nContent-Type: application/json\r\n` +
        "Content-Length: 100\r\n\r\n{"
      const statuses = yield* Effect.promise(() => statusesOf(port, [`${first}${second}`]))
      assert.deepStrictEqual(statuses, [200, 408])
    })
  )
})
