import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, layer as listening, Wire } from "./Wire.ts"

/** What every answer owes its client, even one that never became a request. */
const assertEnvelope = (answer: Answer, label: string) => {
  assert.strictEqual(answer.headers["content-type"], "application/json", label)
  assert.isString(answer.body?._tag, label)
  assert.isString(answer.body?.message, label)
  assert.notStrictEqual(answer.body._tag, "Success", label)
}

const host = "Host: waypost.test\r\n"

const garbage: ReadonlyArray<readonly [label: string, bytes: string | Uint8Array]> = [
  ["a TLS hello", new Uint8Array([0x16, 3, 1, 0, 0xa5, 1, 0, 0, 0xa1, 3, 3, 0x0d, 0x0a, 0x0d, 0x0a])],
  ["noise", "\u0001\u0002 what is this\r\n\r\n"],
  ["an unknown method", `FOO /v1/locations HTTP/1.1\r\n${host}\r\n`],
  ["a version that does not exist", `GET / HTTP/9.9\r\n${host}\r\n`],
  ["a header without a colon", `GET / HTTP/1.1\r\n${host}Broken header\r\n\r\n`],
  ["a header name with a space", `GET / HTTP/1.1\r\n${host}Bro ken: 1\r\n\r\n`],
  ["a NUL in a header", `GET / HTTP/1.1\r\n${host}X-Broken: a\0b\r\n\r\n`],
  [
    "a length beside chunks",
    `POST /v1/locations HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`
  ],
  ["two lengths", `POST /v1/locations HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
  ["a length that is no number", `POST /v1/locations HTTP/1.1\r\n${host}Content-Length: two\r\n\r\n{}`],
  ["a request without a Host", "GET /healthz HTTP/1.1\r\n\r\n"],
  ["a byte that is not ASCII in the path", Buffer.from(`GET /v1/\u00df HTTP/1.1\r\n${host}\r\n`, "latin1")],
  ["a raw space in the path", `GET /v1/lo cations HTTP/1.1\r\n${host}\r\n`]
]

layer(listening(), { excludeTestServices: true })("What the parser refuses", (it) => {
  it.effect.each([...garbage])("%s gets a 400 in the envelope", ([label, bytes]) =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      const answer = yield* raw(bytes)
      assert.strictEqual(answer.status, 400, label)
      assertEnvelope(answer, label)
      assert.strictEqual(answer.body._tag, "InvalidRequestError")
      assert.isArray(answer.body.issues)
    })
  )

  it.effect("more than 16 KiB of headers gets a 431 in the envelope", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      const answer = yield* raw(`GET / HTTP/1.1\r\n${host}X-Long: ${"a".repeat(20_000)}\r\n\r\n`)
      assert.strictEqual(answer.status, 431)
      assertEnvelope(answer, "431")
    })
  )

  it.effect("an expectation that is not understood gets a 400 in the envelope", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      const answer = yield* raw(`GET /healthz HTTP/1.1\r\n${host}Expect: a-miracle\r\n\r\n`)
      assert.strictEqual(answer.status, 400)
      assertEnvelope(answer, "expectation")
    })
  )

  it.effect("headers that do not arrive within six seconds get a 408 in the envelope", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      const begun = performance.now()
      const answer = yield* raw(`GET /healthz HTTP/1.1\r\n${host}X-Slow: `)
      assert.strictEqual(answer.status, 408)
      assertEnvelope(answer, "408")
      assert.isBelow(performance.now() - begun, 7000)
    })
  )

  it.effect("every such answer carries a request id and nosniff", () =>
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

  it.effect("an answer that closes the connection is the last one, whatever else was sent", () =>
    Effect.gen(function* () {
      const { raw } = yield* Wire
      for (const rest of ["{}", "\r\nnoise\r\n\r\n", `GET /healthz HTTP/1.1\r\n${host}\r\n`]) {
        const { answers } = yield* raw(`GET /v1/nothing HTTP/1.1\r\n${host}Connection: close\r\n\r\n${rest}`)
        assert.strictEqual(answers, 1, rest)
      }
    })
  )

  it.effect("the service goes on after all of it, and 100-continue is honoured", () =>
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
