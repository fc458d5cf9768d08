import { assert, beforeAll, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { own } from "../support/Children.ts"
import { command, document, install } from "../support/contract/ExternalTools.ts"
import { operations } from "../support/contract/Documented.ts"
import { prepare } from "../support/contract/Provoking.ts"
import { report } from "../support/proofs/Figures.ts"
import { send, unknownUuid } from "../support/requests/Requests.ts"
import { freePort } from "../support/Services.ts"
import * as TestServer from "../support/TestServer.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

/** A response that arrived through the proxy. */
interface Seen {
  readonly request: string
  readonly status: number
  /** What the proxy says is wrong with the request or the response. */
  readonly violations: string | null
}

const seen: Array<Seen> = []

/** The proxy in front of the service, which stops requests and responses that are not as documented. */
const proxied = (port: number) =>
  Effect.gen(function* () {
    const own = yield* Effect.promise(freePort)
    yield* Effect.acquireRelease(
      Effect.promise(() => start(own, `http://127.0.0.1:${port}`)),
      ({ stop }) => Effect.promise(() => stop())
    )
    return `http://127.0.0.1:${own}`
  })

const start = async (port: number, target: string) => {
  const args = [command("prism"), "proxy", document, target, "--errors", "--port", String(port)]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  const owned = own(child)
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.includes("is listening")) resolve()
    })
    owned.exited.then(() => reject(new Error("The proxy ended")), reject)
  })
  return owned
}

/** A `TestServer` whose requests go through the proxy; those to signed URLs do not. */
const proxy = Layer.effect(
  TestServer.TestServer,
  Effect.gen(function* () {
    const { fullKey, key, port } = yield* Wire
    const base = yield* proxied(port)
    const throughProxy = async (path: string, init: RequestInit = {}) => {
      const url = new URL(path, base)
      const response = await fetch(url, init)
      if (url.origin === base) {
        const request = `${init.method ?? "GET"} ${path}`
        const problem = response.status === 422 || response.status === 500 ? await response.clone().text() : null
        seen.push({ request, status: response.status, violations: response.headers.get("sl-violations") ?? problem })
      }
      return response
    }
    return TestServer.TestServer.of({
      fetch: throughProxy,
      key,
      fullKey,
      client: () => Effect.die("No typed client through the proxy")
    })
  })
).pipe(Layer.provideMerge(listening()))

/** Queries that a list accepts, by the sorting and paging that it documents. */
const queries = [
  "?limit=2&page=1&sortOrder=asc",
  "?sortBy=createdAt&limit=500",
  "?page=3&sortBy=editedAt&sortOrder=desc"
]
const searches = ["?search=poster", "?sortBy=relevance&search=a", "?include=categories,metaTags&locale=nl-NL"]
const listPaths = ["users", "locations", "groups", "products", "assets", "posts", "asset-categories", "meta-tags"]
const lists = [
  ...listPaths.flatMap((path) => queries.map((query) => `/v1/${path}${query}`)),
  ...listPaths.map((path) => `/v1/${path}?filter=${encodeURIComponent("createdAt:gte:2026-01-01")}`),
  ...searches.map((query) => `/v1/assets/search${query}`)
]

/** The proxy reads a response to its end before it passes it, and a stream has none. */
const finite = operations.filter(({ id }) => id !== "events.stream")

beforeAll(install, 300_000)

layer(proxy, { excludeTestServices: true })("a validating proxy", (it) => {
  it.effect("the proxy passes good requests of every operation and finds no violation in a response", (context) =>
    Effect.gen(function* () {
      for (const list of lists) yield* send("GET", list)
      while (seen.length < 500) {
        for (const { ask } of yield* prepare(finite)) yield* ask()
      }
      const { headers } = yield* send("GET", "/v1/locations")
      const conditions = { "if-none-match": headers.get("etag") ?? "" }
      const unchanged = yield* send("GET", "/v1/locations", { headers: conditions })
      const unknown = yield* send("GET", `/v1/locations/${unknownUuid}`)
      const bad = seen.filter(({ status, violations }) => violations !== null || (status >= 400 && status !== 404))
      yield* Effect.promise(() => report(context, { requests: seen.length, violations: bad.length }))
      assert.deepStrictEqual(bad, [])
      assert.deepStrictEqual([unchanged.status, unknown.status], [304, 404])
      assert.isAtLeast(seen.length, 500)
    })
  )
})
