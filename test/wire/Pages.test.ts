import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const live = { excludeTestServices: true }
const committed = readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")

layer(listening(), live)("routes that are not operations", (it) => {
  it.effect("routes that are not operations require no key", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      for (const path of ["/", "/docs", "/v1/openapi.json", "/healthz", "/readyz", "/metrics"]) {
        assert.strictEqual((yield* send("GET", path, { key: null })).status, 200, path)
      }
    })
  )

  it.effect("the served OpenAPI document is the committed one with the URL of the service", () =>
    Effect.gen(function* () {
      const { port, send } = yield* Wire
      const { body, headers } = yield* send("GET", "/v1/openapi.json", { key: null })
      assert.strictEqual(headers["content-type"], "application/json")
      const servers = [{ url: `http://127.0.0.1:${port}` }]
      assert.deepStrictEqual(body, { ...JSON.parse(committed), servers })
    })
  )

  it.effect("the documentation and the front page load nothing from other hosts", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      for (const path of ["/docs", "/"]) {
        const { headers, text } = yield* send("GET", path, { key: null })
        assert.match(headers["content-type"] as string, /^text\/html/)
        // A page that frames it could capture a key that is typed into it.
        assert.include(headers["content-security-policy"], "frame-ancestors 'none'", path)
        assert.isAbove(text.length, 200)
        // Only URLs in markup and styles are loaded; text inside scripts is not.
        const markup = text.replaceAll(/(<script\b[^>]*>)[\s\S]*?(<\/script>)/g, "$1$2")
        assert.isBelow(markup.length, 20_000)
        const references = [...markup.matchAll(/\b(?:src|href|action|data-url)\s*=\s*["']?([^"'\s>]+)/gi)]
        for (const [, target] of references) assert.notMatch(target!, /^(?:https?:)?\/\//i, path)
        assert.notMatch(markup, /(?:@import|url\()\s*["']?(?:https?:)?\/\//i)
      }
      const { text } = yield* send("GET", "/docs", { key: null })
      // By default the script loads fonts from the servers of its vendor.
      assert.isTrue(text.includes(`"withDefaultFonts":false`))
      assert.isTrue(text.includes("update:locations") || text.includes("/v1/openapi.json"))
    })
  )

  it.effect(
    "the documentation and openapi.json are compressed for clients that accept gzip, and a 304 for a current ETag",
    () =>
      Effect.gen(function* () {
        const { port, send } = yield* Wire
        for (const path of ["/docs", "/v1/openapi.json"]) {
          const whole = yield* send("GET", path, { key: null })
          assert.isUndefined(whole.headers["content-encoding"])
          assert.strictEqual(whole.headers["vary"], "Accept-Encoding")
          const get = (accepted: string) =>
            Effect.promise(() => fetch(`http://127.0.0.1:${port}${path}`, { headers: { "accept-encoding": accepted } }))
          const packed = yield* get("br, gzip")
          assert.strictEqual(packed.headers.get("content-encoding"), "gzip")
          assert.isBelow(Number(packed.headers.get("content-length")), whole.text.length / 3)
          assert.strictEqual(yield* Effect.promise(() => packed.text()), whole.text)
          assert.strictEqual(
            packed.headers.get("content-security-policy"),
            whole.headers["content-security-policy"] ?? null
          )
          assert.isNull((yield* get("gzip;q=0, br")).headers.get("content-encoding"))
          const known = { "if-none-match": whole.headers["etag"] as string }
          const again = yield* send("GET", path, { key: null, headers: known })
          assert.strictEqual(again.status, 304)
          assert.strictEqual(again.text, "")
        }
      })
  )

  it.effect("every response has nosniff and a request id, and does not identify the server", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const requests = [
        ["GET", "/"],
        ["GET", "/docs"],
        ["GET", "/healthz"],
        ["GET", "/readyz"],
        ["GET", "/metrics"],
        ["GET", "/v1/openapi.json"],
        ["GET", "/v1/locations"],
        ["GET", "/v1/locations/x"],
        ["GET", "/nothing"],
        ["PUT", "/v1/locations"],
        ["OPTIONS", "/v1/locations"],
        ["GET", `/v1/locations?filter=${"a".repeat(9000)}`]
      ] as const
      for (const [method, path] of requests) {
        const { headers } = yield* send(method, path, { headers: { origin: "https://evil.example" } })
        assert.strictEqual(headers["x-content-type-options"], "nosniff", path)
        assert.isString(headers["x-request-id"], path)
        assert.match(String(headers["cache-control"]), /no-store|no-cache/, path)
        assert.isUndefined(headers["server"], path)
        assert.isUndefined(headers["x-powered-by"], path)
        assert.isUndefined(headers["access-control-allow-origin"], path)
      }
    })
  )

  it.effect("two Authorization headers are rejected in any order", () =>
    Effect.gen(function* () {
      const { fullKey, raw } = yield* Wire
      const line = (value: string) => `Authorization: ${value}\r\n`
      for (const lines of [
        line(fullKey) + line("nonsense"),
        line("nonsense") + line(fullKey),
        line(fullKey) + line(fullKey)
      ]) {
        const answer = yield* raw(`GET /v1/me HTTP/1.1\r\nHost: waypost.test\r\nConnection: close\r\n${lines}\r\n`)
        assert.include([400, 401], answer.status)
        assert.include(["UnauthorizedError", "InvalidRequestError"], answer.body._tag)
      }
    })
  )

  it.effect("/metrics returns the Prometheus text format, with the path of the operation as route", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      yield* send("GET", "/v1/locations/0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30")
      yield* send("GET", "/v1/groups/0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", { key: null })
      yield* send("GET", "/v1/nowhere")
      yield* send("GET", "/healthz", { key: null })
      const { headers, status, text } = yield* send("GET", "/metrics", { key: null })
      assert.strictEqual(status, 200)
      assert.match(headers["content-type"] as string, /^text\/plain; version=0\.0\.4/)
      for (const line of text.split("\n").filter((line) => line !== "")) {
        assert.match(line, /^(?:# (?:HELP|TYPE) \S+ .+|[a-zA-Z_:][\w:]*(?:\{.*\})? \S+(?: \d+)?)$/)
      }
      const count = (method: string, route: string, status: number) =>
        text.includes(`http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`)
      assert.isTrue(count("GET", "/v1/locations/:uuid", 404), text)
      assert.isTrue(count("GET", "/v1/groups/:uuid", 401))
      assert.isTrue(count("GET", "none", 404))
      assert.isTrue(count("GET", "none", 200))
      assert.notInclude(text, 'route="/healthz"')
    })
  )
})

layer(listening({ METRICS_TOKEN: "a-long-random-text" }), live)("metrics token", (it) => {
  it.effect("/metrics accepts only the configured token", () =>
    Effect.gen(function* () {
      const { fullKey, send } = yield* Wire
      const ask = (authorization?: string) =>
        send("GET", "/metrics", { key: null, headers: authorization === undefined ? {} : { authorization } })
      assert.strictEqual((yield* ask("Bearer a-long-random-text")).status, 200)
      for (const wrong of [
        undefined,
        "",
        "Bearer",
        "Bearer a-long-random-tex",
        "Bearer a-long-random-texts",
        fullKey
      ]) {
        const { status, text } = yield* ask(wrong)
        assert.include([401, 403, 404], status, wrong)
        assert.notInclude(text, "# TYPE")
      }
    })
  )
})
