import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { breakDatabase } from "../support/contract/Breaking.ts"
import { provocations } from "../support/contract/Common.ts"
import { operations } from "../support/contract/Documented.ts"
import * as OverWire from "../support/contract/OverWire.ts"
import { call, pathOf, prepare, provoke } from "../support/contract/Provoking.ts"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { createLocation } from "../support/requests/ProductRequests.ts"
import { send } from "../support/requests/Requests.ts"
import { begin } from "../support/requests/UploadRequests.ts"
import { report } from "../support/proofs/Figures.ts"
import { DatabaseProxy } from "../support/wire/DatabaseProxy.ts"
import { Wire } from "../support/wire/Wire.ts"
import { refused } from "./Corpus.ts"
import { internals } from "./Names.ts"

interface Seen {
  readonly label: string
  readonly status: number
  readonly text: string
  readonly header: (name: string) => string | undefined
}

/** The names of constraints, indexes, tables, functions and columns that contain an underscore. */
const names = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const rows = yield* pooled.unsafe<{ readonly name: string }>(`
    select conname as name from pg_constraint where connamespace = 'public'::regnamespace
    union select relname from pg_class where relnamespace = 'public'::regnamespace
    union select proname from pg_proc where pronamespace = 'public'::regnamespace
    union select column_name from information_schema.columns where table_schema = 'public'`)
  return new Set(rows.map(({ name }) => name).filter((name) => name.includes("_")))
})

const problemsOf =
  (hidden: ReadonlySet<string>) =>
  ({ header, label, status, text }: Seen) => {
    const problems: Array<string> = []
    const must = (holds: boolean, what: string) => void (holds || problems.push(`${label} ${status}: ${what}`))
    must(header("x-content-type-options") === "nosniff", "nosniff")
    must(/no-store|private, no-cache/.test(header("cache-control") ?? ""), `cache-control ${header("cache-control")}`)
    must(status < 400 || header("cache-control") === "no-store", "an error is cacheable")
    must(header("x-request-id") !== undefined, "no request id")
    for (const name of [
      "server",
      "x-powered-by",
      "set-cookie",
      "via",
      "access-control-allow-origin",
      "access-control-allow-methods"
    ])
      must(header(name) === undefined, `${name}: ${header(name)}`)
    if (status < 400) return problems
    must(header("content-type") === "application/json" || text === "", `content-type ${header("content-type")}`)
    must(!internals.test(text), `discloses ${internals.exec(text)?.[0]}: ${text}`)
    const disclosed = (text.match(/\w+/g) ?? []).filter((word) => hidden.has(word))
    must(disclosed.length === 0, `discloses ${disclosed.join()}: ${text}`)
    return problems
  }

const ofFetch = (
  label: string,
  { headers, status, text }: { readonly headers: Headers; readonly status: number; readonly text: string }
): Seen => ({
  label,
  status,
  text,
  header: (name) => headers.get(name) ?? undefined
})
const ofWire = (
  label: string,
  { headers, status, text }: { readonly headers: object; readonly status: number; readonly text: string }
): Seen => ({
  label,
  status,
  text,
  header: (name) => (headers as Readonly<Record<string, string | undefined>>)[name]
})
const atOnce = { concurrency: 8 }

/** The operations whose responses end. */
const finite = operations.filter(({ id }) => id !== "events.stream")

/** Every `step`th operation, for responses from shared code. Errors specific to an operation are tested on all. */
const every = (step: number) => finite.filter((_, index) => index % step === 0)

const impatient = OverWire.layer().pipe(
  Layer.provide(Layer.succeed(TimeLimits, { ...TimeLimits.defaultValue(), body: 4000 }))
)

layer(impatient, { excludeTestServices: true })("error responses", (it) => {
  /** Requests whose headers or bodies stay incomplete. */
  const stalled = Effect.gen(function* () {
    const { raw } = yield* Wire
    const [can, stall] = provocations["RequestTimeoutError"]!
    const some = every(3).filter(can)
    const all = [raw("GET /v1/me HTTP/1.1\r\nHost: waypost.test\r\n"), ...some.map(stall)]
    return yield* Effect.all(all, { concurrency: "unbounded" })
  })

  it.effect(
    "no response discloses the code, the database or the machine, and none is cacheable or readable by other origins",
    (ctx) =>
      Effect.gen(function* () {
        const hidden = yield* names
        const seen: Array<Seen> = []
        const stalling = yield* Effect.forkChild(stalled)
        // Errors specific to an operation.
        const own = yield* Effect.forEach(
          refused,
          Effect.fnUntraced(function* ({ operation, prepared, tag }) {
            return ofFetch(`${operation.id} ${tag}`, yield* call(operation, yield* prepared))
          }),
          atOnce
        )
        // Errors that all operations share.
        for (const tag of ["UnauthorizedError", "MissingPermissionsError", "InvalidRequestError"]) {
          for (const answer of yield* Effect.forEach(every(3), (operation) => provoke(operation, tag), atOnce)) {
            seen.push(
              answer.headers instanceof Headers
                ? ofFetch(tag, { ...answer, headers: answer.headers })
                : ofWire(tag, answer)
            )
          }
        }
        for (const [tag, [can, provocation]] of Object.entries(provocations)) {
          if (tag === "RequestTimeoutError") continue
          const some = every(3).filter(can)
          const answers = yield* Effect.forEach(some, provocation, atOnce)
          seen.push(...answers.map((answer) => ofWire(tag, answer as never)))
        }
        // Successes, unexpected failures, and an unreachable database.
        const requests = yield* prepare(every(2))
        for (const answer of yield* Effect.forEach(
          requests,
          ({ ask }) => ask({ headers: { accept: "text/html" } }),
          atOnce
        ))
          seen.push(ofFetch("Success", answer))
        for (const answer of yield* Fiber.join(stalling)) {
          assert.strictEqual(answer.status, 408)
          seen.push(ofWire("stalled", answer as never))
        }
        yield* breakDatabase
        for (const answer of yield* Effect.forEach(requests, ({ ask }) => ask(), atOnce)) {
          assert.strictEqual(answer.status, 500)
          seen.push(ofFetch("500", answer))
        }
        const proxy = yield* DatabaseProxy
        // A job that was at work at the cut reports its end afterwards; the service waits for that when it stops.
        yield* Effect.acquireRelease(proxy.cut, () => proxy.restore)
        for (const answer of yield* Effect.forEach(requests.slice(0, 12), ({ ask }) => ask(), atOnce)) {
          assert.strictEqual(answer.status, 503)
          seen.push(ofFetch("503", answer))
        }
        const all = [...own, ...seen]
        const problems = all.flatMap(problemsOf(hidden))
        yield* Effect.promise(() =>
          report(ctx, {
            responses: all.length,
            errors: all.filter(({ status }) => status >= 400).length,
            "that disclose": problems.length
          })
        )
        assert.deepStrictEqual(problems, [])
      })
  )
})

layer(OverWire.layer(), { excludeTestServices: true })("unusual requests", (it) => {
  const origin = {
    origin: "https://evil.example",
    "access-control-request-method": "DELETE",
    "access-control-request-headers": "authorization"
  }

  it.effect("every route returns the security headers, and no CORS header for another origin", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const routes = [
        ...new Set(operations.map((operation) => pathOf(operation, {}))),
        "/nothing",
        "/",
        "/docs",
        "/healthz",
        "/readyz",
        "/metrics",
        "/v1/openapi.json"
      ]
      const hidden = yield* names
      for (const method of ["OPTIONS", "HEAD", "GET", "PUT"]) {
        const answers = yield* Effect.forEach(
          routes,
          (path) => send(method, path, { headers: origin, key: null }),
          atOnce
        )
        const isPage = (path: string) => !path.startsWith("/v1/") || path === "/v1/openapi.json"
        const problems = answers.flatMap((answer, index) =>
          isPage(routes[index]!) && answer.status < 400
            ? []
            : problemsOf(hidden)(ofWire(`${method} ${routes[index]}`, answer))
        )
        assert.deepStrictEqual(problems, [])
        for (const { headers } of answers) {
          assert.strictEqual(headers["x-content-type-options"], "nosniff")
          assert.isUndefined(headers["access-control-allow-origin"])
        }
      }
    })
  )

  it.effect("method overrides and unknown methods do not change a record", () =>
    Effect.gen(function* () {
      const { fullKey, raw, send: ask } = yield* Wire
      const uuid = yield* createLocation()
      const path = `/v1/locations/${uuid}`
      for (const name of ["x-http-method-override", "x-http-method", "x-method-override", "_method"]) {
        for (const method of ["GET", "POST", "HEAD"]) yield* ask(method, path, { headers: { [name]: "DELETE" } })
        yield* ask("GET", `${path}?${name}=DELETE`)
      }
      for (const method of [
        "TRACE",
        "TRACK",
        "PROPFIND",
        "MOVE",
        "LINK",
        "PURGE",
        "DEBUG",
        "QUERY",
        "GETT",
        "get",
        "SEARCH",
        "REPORT"
      ]) {
        const secret = "x-secret: canary-header"
        const { answers, status, text } = yield* raw(
          `${method} ${path} HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${fullKey}\r\n${secret}\r\nConnection: close\r\n\r\n`
        )
        assert.strictEqual(answers, 1, method)
        assert.include([400, 404, 405, 501], status, method)
        assert.notInclude(text, "canary-header", method)
        assert.notInclude(text, fullKey, method)
      }
      assert.strictEqual((yield* send("GET", path)).status, 200)
    })
  )

  it.effect("CORS allows other origins only to send parts and read files", () =>
    Effect.gen(function* () {
      const { send: ask } = yield* Wire
      const { parts } = yield* begin(3)
      const part = new URL(parts[0]!.url)
      for (const path of [part.pathname + part.search, "/uploads/x/1", "/files/x/y"]) {
        const { headers, status } = yield* ask("OPTIONS", path, { headers: origin, key: null })
        assert.strictEqual(status, 204)
        assert.strictEqual(headers["access-control-allow-origin"], "*", path)
        assert.isUndefined(headers["access-control-allow-credentials"])
        assert.notInclude(String(headers["access-control-allow-headers"]).toLowerCase(), "authorization")
        assert.notMatch(String(headers["access-control-allow-methods"]), /DELETE|PATCH|POST/)
      }
    })
  )
})
