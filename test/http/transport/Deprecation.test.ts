import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { RateLimiter } from "effect/persistence"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { deprecated } from "../../../src/api/openapi/Deprecation.ts"
import { Authorization, requires } from "../../../src/api/Authorization.ts"
import { ErrorBoundary } from "../../../src/api/ErrorBoundary.ts"
import { ApiKeyId } from "../../../src/domain/keys/ApiKey.ts"
import * as AuthorizationHttp from "../../../src/http/transport/Authorization.ts"
import * as ErrorBoundaryHttp from "../../../src/http/transport/ErrorBoundary.ts"
import { InFlight } from "../../../src/http/transport/InFlight.ts"
import * as Metrics from "../../../src/http/transport/Metrics.ts"
import { Shares } from "../../../src/http/transport/limits/Shares.ts"
import { ApiKeys } from "../../../src/services/ApiKeys.ts"
import { OwnWrites } from "../../../src/sql/connections/OwnWrites.ts"
import * as TestServer from "../../support/TestServer.ts"

const notice = {
  since: DateTime.makeUnsafe("2026-12-01T00:00:00.000Z"),
  sunset: DateTime.makeUnsafe("2027-12-31T23:59:59.000Z"),
  guide: "https://example.com/guide"
}
const answer = { query: { count: Schema.optionalKey(Schema.FiniteFromString) }, success: Schema.String }

const api = HttpApi.make("made-up")
  .add(
    HttpApiGroup.make("things").add(
      HttpApiEndpoint.get("old", "/old", answer).pipe(requires(), deprecated(notice)),
      HttpApiEndpoint.get("current", "/current", answer).pipe(requires())
    )
  )
  .middleware(Authorization)
  .middleware(ErrorBoundary)

const [one, other] = [1, 2].map((number) => `00000000-0000-4000-8000-00000000000${number}`)
const request = (path: string, key = one!) =>
  handler(new Request(`http://waypost.test${path}`, { headers: { authorization: key } }))

const handlers = HttpApiBuilder.group(api, "things", (handlers) =>
  handlers.handle("old", () => Effect.succeed("old")).handle("current", () => Effect.succeed("current"))
)

const { dispose, handler } = HttpRouter.toWebHandler(
  HttpApiBuilder.layer(api).pipe(
    Layer.provide(handlers),
    Layer.provide([ErrorBoundaryHttp.layer, AuthorizationHttp.layer]),
    Layer.provide([
      Layer.mock(ApiKeys, {
        authenticate: (header) =>
          Effect.succeed({ uuid: ApiKeyId.make(header), share: header, permissions: new Set<never>() })
      }),
      Layer.mock(OwnWrites, { hasReplicas: false, replicaFor: () => undefined }),
      RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)),
      Shares.layer,
      InFlight.layer
    ]),
    Layer.provide(TestServer.settings()),
    Layer.provide(HttpServer.layerServices)
  )
)

describe("deprecated endpoints", () => {
  it.each(["/old", "/old?count=many"])(
    "a response of %s has Deprecation, Sunset and links to the guide",
    async (path) => {
      const { headers, status } = await request(path)
      assert.strictEqual(status, path === "/old" ? 200 : 400)
      assert.strictEqual(headers.get("deprecation"), "@1796083200")
      assert.strictEqual(headers.get("sunset"), "Fri, 31 Dec 2027 23:59:59 GMT")
      const links = `<${notice.guide}>; rel="deprecation", <${notice.guide}>; rel="sunset"`
      assert.strictEqual(headers.get("link"), links)
    }
  )

  it("a response of another endpoint has none of them", async () => {
    const { headers, status } = await request("/current")
    assert.strictEqual(status, 200)
    for (const name of ["deprecation", "sunset", "link"]) assert.isNull(headers.get(name))
  })

  it("the metrics count the requests of a deprecated endpoint by key, and of no other endpoint", async () => {
    const counted = () => {
      const text = Effect.runSync(PrometheusMetrics.format())
      const lines = text
        .split("\n")
        .filter((line) => line.startsWith("waypost_deprecated_requests_total{") && line.includes('operation="things.'))
      const countOf = (key: string) =>
        Number(
          lines
            .find((line) => line.includes(`operation="things.old"`) && line.includes(`key="${key}"`))
            ?.split(" ")[1] ?? 0
        )
      return { lines: lines.length, of: [countOf(one!), countOf(other!)] as const }
    }
    const before = counted().of
    for (const [path, key] of [
      ["/old", one],
      ["/old?count=many", one],
      ["/current", one],
      ["/current", other],
      ["/old", other]
    ] as const) {
      await request(path, key)
    }
    assert.deepStrictEqual(counted(), { lines: 2, of: [before[0] + 2, before[1] + 1] })
    await dispose()
  })

  it("the metrics count a thousand keys of an endpoint by themselves and all others together", () => {
    const count = Metrics.makeDeprecatedCounter()
    for (let key = 0; key < 1002; key++) Effect.runSync(count("things.busy", `key-${key}`))
    Effect.runSync(count("things.busy", "key-999"))
    const lines = Effect.runSync(PrometheusMetrics.format())
      .split("\n")
      .filter((line) => line.includes(`operation="things.busy"`))
    assert.lengthOf(lines, 1001)
    const countOf = (key: string) => lines.find((line) => line.includes(`key="${key}"`))?.split(" ")[1]
    assert.deepStrictEqual(["key-0", "key-999", "other"].map(countOf), ["1", "2", "2"])
  })

  it("only a deprecated endpoint is deprecated in the OpenAPI document", () => {
    const { paths } = OpenApi.fromApi(api)
    assert.strictEqual(paths["/old"]?.get?.deprecated, true)
    assert.isUndefined(paths["/current"]?.get?.deprecated)
  })
})
