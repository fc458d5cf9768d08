import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { Sql } from "../../src/sql/Sql.ts"
import { eventually } from "../support/Until.ts"
import { type Answer, layer as listening, type Sent, Wire } from "../support/wire/Wire.ts"

const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
const record = `/v1/locations/${uuid}`

const assertError = (answer: Answer, status: number, tag: string, label = "") => {
  assert.strictEqual(answer.status, status, `${label} ${answer.text.slice(0, 200)}`)
  assert.strictEqual(answer.headers["content-type"], "application/json", label)
  assert.strictEqual(answer.body._tag, tag, label)
  assert.isString(answer.body.message, label)
}

/** A location as JSON of exactly `bytes` bytes, padded with white space. */
const bodyOf = (identifier: string, bytes: number) => JSON.stringify({ name: "Sized", identifier }).padEnd(bytes, " ")

/** How many answers each status of requests to the list of locations has, by the metrics. */
const listed = Effect.map(
  Effect.flatMap(Wire, ({ send }) => send("GET", "/metrics", { key: null })),
  ({ text }) => {
    const counts = text.matchAll(/^http_request_duration_seconds_count\{(.*)\} (\d+)$/gm)
    const ofList = [...counts].filter(([, labels]) => labels!.includes('route="/v1/locations"'))
    const of = (status: number) =>
      ofList.reduce((sum, [, labels, count]) => sum + (labels!.includes(`status="${status}"`) ? Number(count) : 0), 0)
    return { hungUp: of(499), unavailable: of(503) }
  }
)

// Without the settings of the service a session has no time limits: the request waits for the lock until its client hangs up.
layer(listening({ DATABASE_PREPARE: "false" }), { excludeTestServices: true })("a request that waits", (it) => {
  it.effect("a request whose client hangs up before the answer is counted as 499, and not as 503", () =>
    Effect.gen(function* () {
      const { fullKey, port } = yield* Wire
      const { pooled } = yield* Sql
      const before = yield* listed
      const lock = Effect.andThen(pooled`lock table locations in access exclusive mode`, Effect.never)
      yield* Effect.forkScoped(pooled.withTransaction(lock))
      yield* eventually(
        "the table is locked",
        pooled`select from pg_locks where relation = 'locations'::regclass and mode = 'AccessExclusiveLock' and granted`,
        (locks) => locks.length > 0
      )
      const socket = connect(port, "127.0.0.1")
      socket.write(`GET /v1/locations HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${fullKey}\r\n\r\n`)
      yield* eventually(
        "the request waits",
        pooled`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        (waiting) => waiting.length > 0
      )
      socket.destroy()
      const after = yield* eventually("the request is counted", listed, ({ hungUp }) => hungUp > before.hungUp)
      assert.deepStrictEqual(after, { hungUp: before.hungUp + 1, unavailable: before.unavailable })
    }).pipe(Effect.scoped)
  )
})

layer(listening(), { excludeTestServices: true })("transport", (it) => {
  const send = (method: string, path: string, sent?: Sent) =>
    Effect.flatMap(Wire, ({ send }) => send(method, path, sent))

  it.effect("an unknown path is a RouteNotFoundError for every method and key", () =>
    Effect.gen(function* () {
      const paths = ["/nothing", "/v1", "/v1/", "/v2/locations", "/V1/locations", "/v1/Locations", "//v1/locations"]
      for (const path of [...paths, "/v1//locations", `${record}/nothing`, "/v1/locations;x=1", `${record};x=1`]) {
        assertError(yield* send("GET", path), 404, "RouteNotFoundError", path)
        assertError(yield* send("POST", path, { key: null, body: "{" }), 404, "RouteNotFoundError", path)
      }
    })
  )

  it.effect("an unsupported method on a known path is a MethodNotAllowedError that lists the allowed methods", () =>
    Effect.gen(function* () {
      const cases = [
        ["PUT", "/v1/locations", "GET, POST, HEAD, OPTIONS"],
        ["TRACE", "/v1/locations", "GET, POST, HEAD, OPTIONS"],
        ["PROPFIND", "/v1/locations", "GET, POST, HEAD, OPTIONS"],
        ["POST", record, "GET, PATCH, DELETE, HEAD, OPTIONS"],
        ["GET", `/v1/api-keys/${uuid}/rotate`, "POST, OPTIONS"],
        ["DELETE", "/v1/me", "GET, HEAD, OPTIONS"],
        ["POST", "/healthz", "GET, HEAD, OPTIONS"],
        ["DELETE", "/v1/openapi.json", "GET, HEAD, OPTIONS"],
        ["PATCH", "/docs", "GET, HEAD, OPTIONS"]
      ] as const
      for (const [method, path, allow] of cases) {
        const answer = yield* send(method, path)
        assertError(answer, 405, "MethodNotAllowedError", `${method} ${path}`)
        assert.sameMembers(String(answer.headers.allow).split(", "), allow.split(", "), `${method} ${path}`)
      }
      const head = yield* send("HEAD", `/v1/api-keys/${uuid}/rotate`)
      assert.strictEqual(head.status, 405)
    })
  )

  it.effect("OPTIONS returns 204 with Allow and no CORS headers", () =>
    Effect.gen(function* () {
      for (const path of ["/v1/locations", record, "/healthz"]) {
        const { headers, status, text } = yield* send("OPTIONS", path, {
          key: null,
          headers: { origin: "https://evil.example", "access-control-request-method": "DELETE" }
        })
        assert.strictEqual(status, 204)
        assert.include(String(headers.allow).split(", "), "GET")
        assert.strictEqual(text, "")
        assert.isUndefined(headers["access-control-allow-origin"])
      }
    })
  )

  it.effect("HEAD returns the status and headers of GET without a body", () =>
    Effect.gen(function* () {
      for (const path of ["/v1/locations?limit=1", record, "/v1/me", "/healthz", "/nothing"]) {
        const get = yield* send("GET", path)
        const head = yield* send("HEAD", path)
        assert.strictEqual(head.status, get.status, path)
        assert.strictEqual(head.text, "", path)
        assert.strictEqual(head.headers["content-type"], get.headers["content-type"], path)
        assert.strictEqual(head.headers.etag, get.headers.etag, path)
      }
    })
  )

  it.effect("a body of exactly 1 MiB is accepted and one byte more is rejected, with a length and in chunks", () =>
    Effect.gen(function* () {
      const limit = 1024 * 1024
      for (const chunked of [false, true]) {
        const fits = yield* send("POST", "/v1/locations", { body: bodyOf(`fits-${chunked}`, limit), chunked })
        assert.strictEqual(fits.status, 201, `chunked: ${chunked} ${fits.text.slice(0, 200)}`)
        const exceeds = yield* send("POST", "/v1/locations", { body: bodyOf(`exceeds-${chunked}`, limit + 1), chunked })
        assertError(exceeds, 413, "PayloadTooLargeError", `chunked: ${chunked}`)
      }
      const { body } = yield* send("GET", "/v1/locations?filter=identifier:startsWith:exceeds")
      assert.strictEqual(body.pagination.total, 0)
    })
  )

  it.effect("a body with a content type other than JSON is an UnsupportedMediaTypeError", () =>
    Effect.gen(function* () {
      const body = `{"name":"Typed","identifier":"typed"}`
      const types = ["text/plain", "application/xml", "application/merge-patch+json", "multipart/form-data; boundary=x"]
      for (const type of [...types, "application/x-www-form-urlencoded"]) {
        const answer = yield* send("POST", "/v1/locations", { body, headers: { "content-type": type } })
        assertError(answer, 415, "UnsupportedMediaTypeError", type)
      }
      const encoded = yield* send("POST", "/v1/locations", { body, headers: { "content-encoding": "gzip" } })
      assertError(encoded, 415, "UnsupportedMediaTypeError", "gzip")
      const headers = { "content-type": "Application/JSON; charset=utf-8", "content-encoding": "Identity" }
      assert.strictEqual((yield* send("POST", "/v1/locations", { body, headers })).status, 201)
    })
  )

  it.effect("a path of 2 KiB and a query of 8 KiB are accepted, one byte more is a UriTooLongError", () =>
    Effect.gen(function* () {
      const path = (bytes: number) => "/v1/locations/".padEnd(bytes, "a")
      const query = (bytes: number) => `/v1/locations?${"filter=name:equals:".padEnd(bytes, "a")}`
      assertError(yield* send("GET", path(2048)), 400, "InvalidRequestError", "path of 2 KiB")
      assertError(yield* send("GET", path(2049)), 414, "UriTooLongError", "longer path")
      assertError(yield* send("GET", query(8192)), 400, "InvalidFilterError", "query of 8 KiB")
      assertError(yield* send("GET", query(8193)), 414, "UriTooLongError", "longer query")
    })
  )

  it.effect(
    "a body that is not a valid JSON object is an InvalidRequestError whose code says if it is no JSON or no UTF-8",
    () =>
      Effect.gen(function* () {
        const bodies: ReadonlyArray<readonly [label: string, body: string | Uint8Array, code?: string]> = [
          ["nothing", ""],
          ["half an object", `{"name":`, "invalid"],
          ["a trailing comma", `{"name":"a",}`, "invalid"],
          ["two values", `{} {}`, "invalid"],
          ["null", "null"],
          ["a list", "[]"],
          ["a string", `"name"`],
          ["a number", "1"],
          ["NaN", "NaN", "invalid"],
          ["an infinite number", `{"coordinates":{"latitude":1e999,"longitude":1}}`],
          ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0x6e, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]), "invalidEncoding"],
          [
            "an overlong NUL",
            Buffer.concat([Buffer.from(`{"name":"`), Buffer.from([0xc0, 0x80]), Buffer.from(`"}`)]),
            "invalidEncoding"
          ],
          [
            "a cut sequence",
            Buffer.concat([Buffer.from(`{"name":"`), Buffer.from([0xe2, 0x82]), Buffer.from(`"}`)]),
            "invalidEncoding"
          ],
          ["UTF-16", Buffer.from(`{"name":"a"}`, "utf16le"), "invalid"],
          ["a prototype", `{"__proto__":{"name":"a"}}`],
          ["deep nesting", `{"address":${"[".repeat(100_000)}${"]".repeat(100_000)}}`]
        ]
        for (const [label, body, code] of bodies) {
          const answer = yield* send("PATCH", record, { body })
          assertError(answer, 400, "InvalidRequestError", label)
          if (code !== undefined) assert.deepInclude(answer.body.issues[0], { in: "body", path: "", code }, label)
        }
      })
  )

  it.effect("a byte order mark is ignored", () =>
    Effect.gen(function* () {
      const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(`{"name":"Bom","identifier":"bom"}`)])
      assert.strictEqual((yield* send("POST", "/v1/locations", { body })).status, 201)
    })
  )

  it.effect("invalid percent-encodings in a path are a 400 or 404", () =>
    Effect.gen(function* () {
      for (const odd of [
        "%ZZ",
        "%E0%A4%A",
        "%C0%AF",
        "%00",
        "%2e%2e%2f",
        "%",
        "%3B",
        "%2F",
        `${uuid}%3Bx`,
        `${uuid}%00`
      ]) {
        for (const method of ["GET", "DELETE"]) {
          const answer = yield* send(method, `/v1/locations/${odd}`)
          assert.include([400, 404], answer.status, odd)
          assert.include(["InvalidRequestError", "RouteNotFoundError"], answer.body._tag, odd)
        }
      }
    })
  )
})
