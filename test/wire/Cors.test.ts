import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { begin, put } from "../support/requests/UploadParts.ts"
import { type Answer, layer as listening, type Sent, Wire } from "../support/wire/Wire.ts"

const live = { excludeTestServices: true }
const origin = "https://app.example.com"
const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"

const send = (method: string, path: string, sent?: Sent) => Effect.flatMap(Wire, ({ send }) => send(method, path, sent))

const listOf = (value: unknown) => String(value).split(", ")

/** By contract.md, section 7, and what a page needs besides. */
const exposed = [
  "Idempotent-Replayed",
  "Preference-Applied",
  "Retry-After",
  "ETag",
  "Warning",
  "X-Request-Id",
  "Link",
  "Waypost-Position"
]
const allowed = [
  "Authorization",
  "Content-Type",
  "If-Match",
  "If-None-Match",
  "X-Request-Id",
  "Idempotency-Key",
  "Prefer",
  "Last-Event-ID",
  "Waypost-Position"
]

const assertShared = ({ headers }: Answer, allowedOrigin: string, label?: string) => {
  assert.strictEqual(headers["access-control-allow-origin"], allowedOrigin, label)
  assert.sameMembers(listOf(headers["access-control-expose-headers"]), exposed, label)
  assert.isUndefined(headers["access-control-allow-credentials"], label)
  if (allowedOrigin !== "*") assert.include(listOf(headers.vary), "Origin", label)
}

const corsHeadersOf = ({ headers }: Answer) => Object.keys(headers).filter((name) => name.startsWith("access-control-"))

layer(listening({ CORS_ORIGINS: `http://localhost:5173, ${origin}` }), live)("pages of configured origins", (it) => {
  const preflight = (path: string, from = origin) =>
    send("OPTIONS", path, {
      key: null,
      headers: {
        origin: from,
        "access-control-request-method": "PATCH",
        "access-control-request-headers": "authorization,content-type"
      }
    })

  it.effect("pages of configured origins can read answers and errors of /v1", () =>
    Effect.gen(function* () {
      const headers = { origin }
      const body = JSON.stringify({ name: "Branch", identifier: "cors" })
      const answers = [
        [200, yield* send("GET", "/v1/locations?limit=1", { headers })],
        [200, yield* send("GET", "/v1/openapi.json", { headers, key: null })],
        [201, yield* send("POST", "/v1/locations", { headers, body })],
        [400, yield* send("POST", "/v1/locations", { headers, body: "{" })],
        [401, yield* send("GET", "/v1/locations", { headers, key: null })],
        [404, yield* send("GET", `/v1/locations/${uuid}`, { headers })],
        [404, yield* send("GET", "/v1/nothing", { headers })],
        [405, yield* send("PUT", "/v1/locations", { headers })],
        [414, yield* send("GET", `/v1/locations?filter=${"x".repeat(9000)}`, { headers })]
      ] as const
      for (const [status, answer] of answers) {
        assert.strictEqual(answer.status, status)
        assertShared(answer, origin, String(status))
      }
      const other = { headers: { origin: "http://localhost:5173" } }
      assertShared(yield* send("GET", "/v1/me", other), "http://localhost:5173")
    })
  )

  it.effect("get the methods of a path and the headers of a request without a key", () =>
    Effect.gen(function* () {
      for (const [path, methods] of [
        ["/v1/locations", "GET, POST, HEAD, OPTIONS"],
        [`/v1/locations/${uuid}`, "GET, PATCH, DELETE, HEAD, OPTIONS"],
        ["/v1/locations/bulk", "POST, OPTIONS"]
      ] as const) {
        const answer = yield* preflight(path)
        assert.strictEqual(answer.status, 204)
        assertShared(answer, origin, path)
        assert.sameMembers(listOf(answer.headers["access-control-allow-methods"]), listOf(methods), path)
        assert.sameMembers(listOf(answer.headers["access-control-allow-headers"]), allowed, path)
        assert.match(String(answer.headers["access-control-max-age"]), /^\d+$/)
      }
      const unknown = yield* preflight("/v1/nothing")
      assert.strictEqual(unknown.status, 404)
      assert.isUndefined(unknown.headers["access-control-allow-methods"])
    })
  )

  it.effect("configured origins are the only ones: another gets no header, and caches keep its answers apart", () =>
    Effect.gen(function* () {
      for (const other of ["https://evil.example", `${origin}.evil.example`, "http://app.example.com", "null"]) {
        const answer = yield* send("GET", "/v1/me", { headers: { origin: other } })
        assert.deepStrictEqual([answer.status, corsHeadersOf(answer)], [200, []], other)
        assert.include(listOf(answer.headers.vary), "Origin")
        assert.deepStrictEqual(corsHeadersOf(yield* preflight("/v1/locations", other)), [], other)
      }
      const none = yield* send("GET", "/v1/openapi.json", { key: null })
      assert.deepStrictEqual(corsHeadersOf(none), [])
      assert.sameMembers(listOf(none.headers.vary), ["Accept-Encoding", "Origin"])
      assert.deepStrictEqual(corsHeadersOf(yield* send("GET", "/healthz", { headers: { origin } })), [])
    })
  )
})

layer(listening({ MAX_IN_FLIGHT: "1" }), live)("pages of any origin", (it) => {
  it.effect("pages of any origin can read when to send a part again to a service that is overloaded", () =>
    Effect.gen(function* () {
      const { parts } = yield* begin(1)
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => put(parts[0]!.url, new Uint8Array(1))),
        { concurrency: "unbounded" }
      )
      const { headers } = answers.find(({ status }) => status === 503)!
      assert.match(String(headers["retry-after"]), /^\d+$/)
      assert.strictEqual(headers["access-control-allow-origin"], "*")
      assert.include(listOf(headers["access-control-expose-headers"]), "Retry-After")
    })
  )
})

const crowded = listening({ CORS_ORIGINS: "*", MAX_IN_FLIGHT: "1", RATE_LIMIT_PER_SECOND: "1" })

layer(crowded, live)("pages of every origin", (it) => {
  it.effect("any origin can read answers, also those of an overloaded service and of a key above its rate", () =>
    Effect.gen(function* () {
      const path = "/v1/locations?limit=1"
      const ask = send("GET", path, { headers: { origin } })
      const answers = [
        ...(yield* Effect.all(
          Array.from({ length: 20 }, () => ask),
          { concurrency: "unbounded" }
        )),
        ...(yield* Effect.all([ask, ask, ask, ask, ask]))
      ]
      const statuses = new Set(answers.map(({ status }) => status))
      assert.sameMembers([...statuses], [200, 429, 503])
      for (const answer of answers) {
        assertShared(answer, "*", String(answer.status))
        assert.isUndefined(answer.headers.vary)
      }
    })
  )
})
