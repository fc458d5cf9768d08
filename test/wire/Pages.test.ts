import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Layer, type Scope } from "effect"
import { HttpEffect, HttpRouter, type HttpServerRequest, HttpServer } from "effect/http"
import { readdirSync, readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { derive } from "../../src/console/definition/Derive.ts"
import * as Pages from "../../src/http/routes/Pages.ts"
import { InFlight } from "../../src/http/transport/InFlight.ts"
import { Uploads } from "../../src/services/Uploads.ts"
import * as Postgres from "../support/Postgres.ts"
import { publicUrl, settings } from "../support/TestServer.ts"
import { atBest, eventually } from "../support/Until.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const live = { excludeTestServices: true }
/** Asks /readyz of pages with a storage. */
const readyzWith = Effect.fnUntraced(function* (storage: Effect.Effect<void>) {
  const app = yield* HttpRouter.toHttpEffect(
    Pages.layer.pipe(Layer.provide([Layer.mock(Uploads, { storage }), InFlight.layer, publicUrl, NodeServices.layer]))
  )
  const context = yield* Effect.context()
  const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(app)
  return Effect.promise(async () => {
    const response = await handler(new Request("http://waypost.test/readyz"))
    return { status: response.status, body: await response.json() }
  })
})
const committed = readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")

layer(listening(), live)("routes that are not operations", (it) => {
  it.effect("routes that are not operations require no key", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const pages = [
        "/",
        "/console",
        "/console/locations/new",
        "/docs",
        "/docs/errors",
        "/docs/reference/locations",
        "/docs/assets/mark.svg"
      ]
      for (const path of [...pages, "/v1/openapi.json", "/healthz", "/readyz", "/metrics"]) {
        // The database of a busy machine may not answer /readyz in time.
        const ask = send("GET", path, { key: null })
        yield* path === "/readyz"
          ? eventually("the service is ready", ask, ({ status }) => status === 200)
          : Effect.map(ask, ({ status }) => assert.strictEqual(status, 200, path))
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

  it.effect("the documentation and the front page load nothing from other hosts, and nothing in them is inline", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      for (const path of ["/", "/docs", "/docs/reference", "/docs/reference/locations", "/docs/errors"]) {
        const { headers, text } = yield* send("GET", path, { key: null })
        assert.match(headers["content-type"] as string, /^text\/html/)
        const policy = String(headers["content-security-policy"]).split("; ")
        // A page that frames it could capture a key that is typed into it.
        for (const directive of [
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "connect-src 'self'",
          "frame-ancestors 'none'"
        ]) {
          assert.include(policy, directive, path)
        }
        assert.notInclude(policy.join(), "unsafe")
        assert.isAbove(text.length, 200)
        assert.notMatch(text, /<script\b[^>]*>[^<]|<style|\sstyle=|\son[a-z]+=/i, path)
        const references = [...text.matchAll(/<(?!a\b)[^>]*\s(?:src|href|action|data-url)="([^"]*)"/gi)]
        assert.isAbove(references.length, 2)
        for (const [, target] of references) assert.match(target!, /^\/(?!\/)/, path)
      }
      for (const asset of ["docs.css", "docs.js", "search.js", "theme.js", "try.js", "mark.svg"]) {
        const { text } = yield* send("GET", `/docs/assets/${asset}`, { key: null })
        assert.notMatch(text.replace("http://www.w3.org/2000/svg", ""), /\bhttps?:|@import|url\(\s*["']?\/\//i, asset)
      }
    })
  )

  it.effect("the first heading of a page needs less than 60 kB of compressed HTML, styles and scripts", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const compressed = (text: string) => gzipSync(text).length
      for (const path of ["/", "/docs", "/docs/reference", "/docs/reference/locations", "/docs/errors"]) {
        const { text } = yield* send("GET", path, { key: null })
        const [head = "", rest = ""] = text.split("<h1>")
        assert.isNotEmpty(rest, path)
        const loaded = [...head.matchAll(/<(?:script|link rel="stylesheet")[^>]*(?:src|href)="([^"]+)"/g)]
        assert.isAtMost(loaded.length, 3)
        let total = compressed(head)
        for (const [, file] of loaded) total += compressed((yield* send("GET", file!, { key: null })).text)
        assert.isBelow(total, 60_000, path)
      }
    })
  )

  it.effect("the body of a plan is described in each of its formats, with an example", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { text } = yield* send("GET", "/docs/reference/plans", { key: null })
      const body = /<h3>Body<\/h3>([^]*?)<h3>/.exec(text)?.[1] ?? ""
      for (const type of ["application/json", "application/x-ndjson", "text/csv"]) {
        assert.include(body, `<code>${type}</code>`)
      }
      assert.include(body, "<code>_refused</code>")
      assert.include(body, "identifier,name,address.city")
    })
  )

  it.effect("the description of an answer is rendered, and the example of a header is shown as it is sent", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { text } = yield* send("GET", "/docs/reference/locations", { key: null })
      assert.include(text, "What <code>If-None-Match</code> names is current.")
      assert.match(text, /example &quot;[0-9a-f]+&quot;</)
    })
  )

  it.effect("the alternatives of an answer have titles that differ", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { text } = yield* send("GET", "/docs/reference/access", { key: null })
      const titles = [...text.matchAll(/<p class="variant">([^<]*)<\/p>/g)].map(([, title]) => title)
      assert.includeMembers(titles, ["data: array of User", "data: array of Location"])
      assert.notInclude(text, "_tag: &quot;Success&quot;")
    })
  )

  it.effect("the console is one page for every screen, with nothing inline, and files that browsers keep", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { headers, text } = yield* send("GET", "/console", { key: null })
      assert.match(headers["content-type"] as string, /^text\/html/)
      const policy = String(headers["content-security-policy"]).split("; ")
      for (const directive of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'"
      ]) {
        assert.include(policy, directive)
      }
      assert.notInclude(policy.join(), "unsafe")
      assert.notMatch(text, /<script\b[^>]*>[^<]|<style|\sstyle=|\son[a-z]+=/i)
      const { resources } = derive("0.0.0")
      for (const screen of [...resources.map(({ name }) => `${name}/x`), "locations/x/history"]) {
        assert.strictEqual((yield* send("GET", `/console/${screen}`, { key: null })).text, text, screen)
      }
      const [, script = ""] = /src="(\/console\/files\/[^"]+\.js)"/.exec(text) ?? []
      const file = yield* send("GET", script, { key: null })
      assert.match(file.headers["content-type"] as string, /^text\/javascript/)
      assert.include(file.headers["cache-control"], "immutable")
      assert.strictEqual((yield* send("GET", "/console/files/unknown.js", { key: null })).status, 404)
    })
  )

  it.effect("the front page and the documentation show the version of package.json", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
      for (const path of ["/", "/docs", "/docs/errors", "/docs/reference/locations"]) {
        assert.include((yield* send("GET", path, { key: null })).text, version, path)
      }
    })
  )

  it.effect("every guide and operation has a page, and every link in them leads to a page and a place on it", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const pages = new Map<string, string>()
      const links = new Set<string>()
      const waiting = ["/docs"]
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        if (pages.has(path)) continue
        const { status, text } = yield* send("GET", path, { key: null })
        assert.strictEqual(status, 200, path)
        pages.set(path, text)
        for (const [, target = ""] of text.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)) {
          const { hash, origin, pathname } = new URL(target, `http://waypost.test${path}`)
          if (origin !== "http://waypost.test") continue
          if (hash !== "") links.add(`${pathname}${hash}`)
          if (pathname.startsWith("/docs")) waiting.push(pathname)
        }
      }
      for (const [path, text] of pages) {
        const ids = Array.from(text.matchAll(/<[a-z]\w*\b[^>]*\sid="([^"]*)"/g), ([, id]) => id)
        assert.include(ids, "content", path)
        assert.deepStrictEqual(
          ids.filter((id, index) => ids.indexOf(id) !== index),
          [],
          `ids that ${path} has twice`
        )
      }
      const missing = [...links].filter((link) => {
        const [path = "", anchor = ""] = link.split("#")
        return !pages.get(path)?.includes(` id="${decodeURIComponent(anchor)}"`)
      })
      assert.deepStrictEqual(missing, [])
      const guides = readdirSync(new URL("../../docs", import.meta.url)).filter((file) => file.endsWith(".md"))
      for (const guide of guides.filter((file) => file !== "README.md")) {
        assert.isTrue(pages.has(`/docs/${guide.replace(".md", "")}`), guide)
      }
      const all = [...pages.values()].join("")
      for (const [path, methods] of Object.entries<object>(JSON.parse(committed).paths)) {
        for (const method of Object.keys(methods)) {
          assert.include(all, `data-method="${method.toUpperCase()}" data-path="${path}"`)
        }
      }
      const records = (yield* send("GET", "/docs/assets/search.json", { key: null })).body
      for (const { id } of records) assert.isTrue(pages.has(id.split("#")[0]), id)
    })
  )

  it.effect(
    "the documentation and openapi.json are compressed for clients that accept gzip, and a 304 for a current ETag",
    () =>
      Effect.gen(function* () {
        const { port, send } = yield* Wire
        for (const path of ["/docs/errors", "/docs/reference/locations", "/docs/assets/docs.css", "/v1/openapi.json"]) {
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
        ["GET", "/docs/errors"],
        ["GET", "/docs/nothing"],
        ["GET", "/docs/reference/locations"],
        ["GET", "/docs/assets/docs.css"],
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
  it.effect("/metrics accepts only the configured token, and is an unknown path without it", () =>
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
        const { body, status, text } = yield* ask(wrong)
        assert.strictEqual(status, 404, wrong)
        assert.notInclude(text, "# TYPE")
        const unknown = (yield* send("GET", "/unknown", { key: null })).body
        assert.deepStrictEqual({ ...body, requestId: "" }, { ...unknown, requestId: "" })
      }
    })
  )
})

layer(Postgres.sql.pipe(Layer.provideMerge(settings())), live)("readiness", (it) => {
  it.effect("/readyz shows a storage that failed a second later, also if the clock was set back", () =>
    Effect.gen(function* () {
      let [correction, isUp] = [0, true]
      const system = yield* Clock.Clock
      const now = () => system.currentTimeMillisUnsafe() + correction
      const changes = { currentTimeMillisUnsafe: now, currentTimeMillis: Effect.sync(now) }
      const clock: Clock.Clock = Object.assign(Object.create(system), changes)
      const storage = Effect.suspend(() => (isUp ? Effect.void : Effect.die("The disk failed")))
      const readyz = yield* Effect.provideService(readyzWith(storage), Clock.Clock, clock)
      yield* eventually("the service is ready", readyz, ({ status }) => status === 200)
      correction = -3_600_000
      isUp = false
      yield* Effect.sleep("1100 millis")
      assert.strictEqual((yield* readyz).status, 503)
    }).pipe(Effect.scoped, Effect.provide(HttpServer.layerServices))
  )

  it.effect("/readyz names the storage within 2.5 s while its disk hangs, and asks the disk once at a time", () =>
    Effect.gen(function* () {
      const disk = yield* Deferred.make<void>()
      let lookups = 0
      const storage = Effect.uninterruptible(
        Effect.andThen(
          Effect.sync(() => lookups++),
          Deferred.await(disk)
        )
      )
      const readyz = yield* readyzWith(storage)
      for (let probe = 0; probe < 2; probe++) {
        const [time, answer] = yield* Effect.timed(Effect.timeout(readyz, "10 seconds"))
        assert.deepStrictEqual(answer, {
          status: 503,
          body: { status: "unavailable", database: "up", storage: "down" }
        })
        assert.isBelow(Duration.toMillis(time), 2500)
        // An answer is kept for a second.
        yield* Effect.sleep("1100 millis")
      }
      assert.strictEqual(lookups, 1)
      yield* Deferred.succeed(disk, undefined)
      yield* eventually("the service is ready", readyz, ({ status }) => status === 200)
    }).pipe(Effect.scoped, Effect.provide(HttpServer.layerServices), atBest)
  )
})
