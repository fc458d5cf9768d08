import { assert, describe, it, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { withMinRate } from "../../src/http/streams/MinRate.ts"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { begin, md5, pathOf, send } from "../support/requests/UploadParts.ts"
import { stored } from "../support/requests/UploadRequests.ts"
import { atBest, eventually } from "../support/Until.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const limits = { body: 1000, answer: 1500 }
const pause = 50

/** A part that arrives at half a kilobyte per 50 milliseconds, for longer than the timeout of other requests. */
const slowPart = Effect.fnUntraced(function* (origin: string) {
  const { port } = yield* Wire
  const pieces = Array.from({ length: (limits.answer + 500) / pause }, () => randomBytes(512))
  // On a busy machine an answer may take longer than the limit.
  const session = yield* eventually("the upload begins", begin(pieces.length * 512), (begun) => begun !== undefined)
  const answer = yield* Effect.promise(async () => {
    const path = origin + pathOf(session.parts[0]!.url)
    const outgoing = request({ host: "127.0.0.1", port, method: "PUT", path, agent: false })
    for (const piece of pieces) {
      outgoing.write(piece)
      await sleep(pause)
    }
    outgoing.end()
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]
    incoming.resume()
    return { status: incoming.statusCode, etag: incoming.headers.etag }
  })
  return { answer, expected: { status: 200, etag: `"${md5(Buffer.concat(pieces))}"` } }
})

/** The response to a part that arrives at 200 bytes a second. */
const tricklingPart = Effect.gen(function* () {
  const { port } = yield* Wire
  const session = yield* begin(100_000)
  return yield* Effect.promise(async () => {
    const path = pathOf(session.parts[0]!.url)
    const headers = { "content-length": 100_000 }
    const outgoing = request({ host: "127.0.0.1", port, method: "PUT", path, headers, agent: false })
    const trickle = setInterval(() => outgoing.write("0123456789"), pause)
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]
    clearInterval(trickle)
    const body = Buffer.concat(await incoming.toArray()).toString()
    outgoing.destroy()
    return {
      status: incoming.statusCode,
      body: JSON.parse(body) as { readonly _tag: string; readonly message: string }
    }
  })
})

/** A JSON body that stays incomplete; returns the response and the milliseconds until it arrived. */
const stalled = Effect.gen(function* () {
  const { fullKey, raw } = yield* Wire
  const began = performance.now()
  const answer = yield* raw(
    `POST /v1/uploads/init-multi-part HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${fullKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
  )
  return { answer, milliseconds: performance.now() - began }
})

/** The headers of a plan file of 1 MB. */
const fileHeaders = (key: string, isRepeatable: boolean) => ({
  authorization: key,
  "content-type": "application/x-ndjson",
  "content-length": 1_000_000,
  ...(isRepeatable ? { "idempotency-key": randomBytes(8).toString("hex") } : {})
})

/** The response to a plan file that sends a byte, and then more of them every 50 milliseconds or nothing. */
const slowFile = (isRepeatable: boolean, trickles: boolean, query = "", sent: OutgoingHttpHeaders = {}) =>
  Effect.flatMap(Wire, ({ fullKey, port }) =>
    Effect.promise(async () => {
      const headers = { ...fileHeaders(fullKey, isRepeatable), ...sent }
      const path = `/v1/plans?resource=locations${query}`
      const outgoing = request({ host: "127.0.0.1", port, method: "POST", path, headers, agent: false })
      outgoing.write(" ")
      const trickle = trickles ? setInterval(() => outgoing.write(" "), pause) : undefined
      const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]
      clearInterval(trickle)
      const body = JSON.parse(Buffer.concat(await incoming.toArray()).toString())
      outgoing.destroy()
      return [incoming.statusCode, body._tag, body.message] as const
    })
  )

const limited = (limits: Partial<typeof TimeLimits.Service>) =>
  listening().pipe(Layer.provide(Layer.succeed(TimeLimits, { ...TimeLimits.defaultValue(), ...limits })))

layer(limited(limits), { excludeTestServices: true })("body timeouts", (it) => {
  it.effect("a slow part is accepted, a stalled JSON body times out, and other requests are served concurrently", () =>
    Effect.gen(function* () {
      const part = yield* Effect.forkChild(slowPart(""))
      const stall = yield* Effect.forkChild(stalled)
      let answered = 0
      while (part.pollUnsafe() === undefined) {
        // The time limit of the log is longer than that of other requests.
        assert.strictEqual((yield* send("GET", "/v1/events?limit=1")).status, 200)
        answered++
        yield* Effect.sleep(pause)
      }
      const { answer, expected } = yield* Fiber.join(part)
      assert.deepStrictEqual(answer, expected)
      const { answer: late, milliseconds } = yield* Fiber.join(stall)
      assert.deepStrictEqual([late.status, late.body._tag], [408, "RequestTimeoutError"])
      assert.isAtLeast(milliseconds, limits.body - 100)
      // Several other requests succeed before the slow part ends.
      assert.isAtLeast(answered, 5)
    }).pipe(atBest)
  )

  it.effect("a slow part is accepted at a whole URL, as a proxy may send it", () =>
    Effect.gen(function* () {
      const { answer, expected } = yield* slowPart("http://waypost.test")
      assert.deepStrictEqual(answer, expected)
    })
  )

  it.effect.each([false, true])(
    "a plan file that stops arriving is a 408, with an Idempotency-Key: %s",
    (isRepeatable) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* slowFile(isRepeatable, false), [
          408,
          "RequestTimeoutError",
          "The rest of the file did not arrive in time; send it again"
        ])
      })
  )
})

layer(listening(), { excludeTestServices: true })("bodies of rejected requests", (it) => {
  it.effect.each([false, true])(
    "a plan file is not awaited if its query, key, type or length is rejected, with an Idempotency-Key: %s",
    (isRepeatable) =>
      Effect.gen(function* () {
        const { key } = yield* Wire
        const authorization = yield* key(["read:locations", "create:locations"])
        for (const [query, headers, status, tag] of [
          ["&maxDeletes=101", {}, 400, "InvalidRequestError"],
          ["&filter=nonsense", {}, 400, "InvalidFilterError"],
          ["", { authorization }, 403, "MissingPermissionsError"],
          ["", { "content-type": "text/plain" }, 415, "UnsupportedMediaTypeError"],
          ["", { "content-length": 50 * 1024 ** 2 + 1 }, 413, "PayloadTooLargeError"]
        ] as const) {
          const answer = yield* slowFile(isRepeatable, false, query, headers)
          assert.deepStrictEqual(answer.slice(0, 2), [status, tag])
        }
      })
  )
})

layer(limited({ bodyRate: 500 }), { excludeTestServices: true })("minimum rates of bodies", (it) => {
  it.effect("a part that arrives at less than 1 KiB a second times out, and its bytes are removed", () =>
    Effect.gen(function* () {
      const { body, status } = yield* tricklingPart
      assert.deepStrictEqual([status, body._tag], [408, "RequestTimeoutError"])
      assert.include(body.message, "1 KiB")
      assert.deepStrictEqual(
        (yield* stored).filter((path) => path.startsWith("temporary/")),
        []
      )
    })
  )

  it.effect.each([false, true])(
    "a plan file that arrives at less than 64 KiB a second is a 408, with an Idempotency-Key: %s",
    (isRepeatable) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* slowFile(isRepeatable, true), [
          408,
          "RequestTimeoutError",
          "The file arrived at less than 64 KiB a second; send it again"
        ])
      })
  )
})

/** How a body of ten chunks, one a second, is read, and in how many seconds. */
const reading = Effect.fnUntraced(function* (bytes: number, use: Effect.Effect<void> = Effect.void) {
  const body = Stream.range(1, 10).pipe(
    Stream.mapEffect(() => Effect.delay(Effect.succeed(new Uint8Array(bytes)), "1 second")),
    withMinRate({ rate: 1024, averagedOver: 3000, slow: "slow" as const })
  )
  const read = Stream.runForEach(body, () => use).pipe(Effect.as("whole"), Effect.catch(Effect.succeed), Effect.timed)
  const fiber = yield* Effect.forkChild(read, { startImmediately: true })
  yield* TestClock.adjust("1 hour")
  const [time, result] = yield* Fiber.join(fiber)
  return [result, Duration.toSeconds(time)]
})

describe("minimum rate of a body", () => {
  it.effect("a body that arrives at the minimum rate is read to its end, and a slower one fails", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* reading(1024), ["whole", 10])
      assert.deepStrictEqual(yield* reading(1023), ["slow", 3])
    })
  )

  it.effect("the time in which the service works on the bytes is not part of the average", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* reading(1024, Effect.sleep("1 minute")), ["whole", 610])
    })
  )
})

describe("default time limits", () => {
  it.effect(
    "the default time limits are 15 s for a body, 20 s for a response, 1 minute for the rate of a part or a reader, 30 s without progress and 15 s between the comments of a stream",
    () =>
      Effect.map(TimeLimits, (used) =>
        assert.deepStrictEqual(used, {
          body: 15_000,
          answer: 20_000,
          bodyRate: 60_000,
          comment: 15_000,
          read: { stall: 30_000, minRate: 1024, average: 60_000, whole: 1_800_000 }
        })
      )
  )
})
