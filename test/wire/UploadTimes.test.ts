import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { begin, md5, pathOf, send } from "../support/requests/UploadParts.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

/** A part of which half a kilobyte arrives every 250 milliseconds, for longer than any other request may take. */
const slowPart = Effect.gen(function* () {
  const { port } = yield* Wire
  const pieces = Array.from({ length: 84 }, () => randomBytes(512))
  const session = yield* begin(pieces.length * 512)
  const answer = yield* Effect.promise(async () => {
    const path = pathOf(session.parts[0]!.url)
    const outgoing = request({ host: "127.0.0.1", port, method: "PUT", path, agent: false })
    for (const piece of pieces) {
      outgoing.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    outgoing.end()
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]
    incoming.resume()
    return { status: incoming.statusCode, etag: incoming.headers.etag }
  })
  return { answer, expected: { status: 200, etag: `"${md5(Buffer.concat(pieces))}"` } }
})

/** A JSON body that never comes to its end; the answer, and after how many milliseconds it came. */
const stalled = Effect.gen(function* () {
  const { fullKey, raw } = yield* Wire
  const began = performance.now()
  const answer = yield* raw(
    `POST /v1/uploads/init-multi-part HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${fullKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
  )
  return { answer, milliseconds: performance.now() - began }
})

/** How long the slowest of many other requests took, in milliseconds. */
const others = Effect.forEach(Array.from({ length: 60 }), () =>
  Effect.gen(function* () {
    const began = performance.now()
    assert.strictEqual((yield* send("GET", "/v1/me")).status, 200)
    const milliseconds = performance.now() - began
    yield* Effect.sleep("250 millis")
    return milliseconds
  })
).pipe(Effect.map((all) => Math.max(...all)))

layer(listening(), { excludeTestServices: true })("The time a body takes", (it) => {
  it.effect(
    "a slow part is waited for, a JSON body that stalls is not, and others are answered all the while",
    () =>
      Effect.gen(function* () {
        const [slow, stall, slowest] = yield* Effect.all([slowPart, stalled, others], { concurrency: 3 })
        assert.deepStrictEqual(slow.answer, slow.expected)
        assert.deepStrictEqual([stall.answer.status, stall.answer.body._tag], [408, "RequestTimeoutError"])
        assert.isAbove(stall.milliseconds, 14_000)
        assert.isBelow(stall.milliseconds, 16_500)
        assert.isBelow(slowest, 3000)
      }),
    40_000
  )
})
