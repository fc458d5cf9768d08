import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { deprecated } from "../../../src/api/openapi/Deprecation.ts"
import { ErrorBoundary } from "../../../src/api/ErrorBoundary.ts"
import * as ErrorBoundaryHttp from "../../../src/http/transport/ErrorBoundary.ts"

const notice = {
  since: DateTime.makeUnsafe("2026-12-01T00:00:00.000Z"),
  sunset: DateTime.makeUnsafe("2027-12-31T23:59:59.000Z"),
  guide: "https://example.com/guide"
}
const answer = { query: { count: Schema.optionalKey(Schema.FiniteFromString) }, success: Schema.String }

const api = HttpApi.make("made-up")
  .add(
    HttpApiGroup.make("things").add(
      HttpApiEndpoint.get("old", "/old", answer).pipe(deprecated(notice)),
      HttpApiEndpoint.get("current", "/current", answer)
    )
  )
  .middleware(ErrorBoundary)

const handlers = HttpApiBuilder.group(api, "things", (handlers) =>
  handlers.handle("old", () => Effect.succeed("old")).handle("current", () => Effect.succeed("current"))
)

const { dispose, handler } = HttpRouter.toWebHandler(
  HttpApiBuilder.layer(api).pipe(
    Layer.provide(handlers),
    Layer.provide(ErrorBoundaryHttp.layer),
    Layer.provide(HttpServer.layerServices)
  )
)

describe("deprecated endpoints", () => {
  it.each(["/old", "/old?count=many"])(
    "a response of %s has Deprecation, Sunset and links to the guide",
    async (path) => {
      const { headers, status } = await handler(new Request(`http://waypost.test${path}`))
      assert.strictEqual(status, path === "/old" ? 200 : 400)
      assert.strictEqual(headers.get("deprecation"), "@1796083200")
      assert.strictEqual(headers.get("sunset"), "Fri, 31 Dec 2027 23:59:59 GMT")
      const links = `<${notice.guide}>; rel="deprecation", <${notice.guide}>; rel="sunset"`
      assert.strictEqual(headers.get("link"), links)
    }
  )

  it("a response of another endpoint has none of them", async () => {
    const { headers, status } = await handler(new Request("http://waypost.test/current"))
    assert.strictEqual(status, 200)
    for (const name of ["deprecation", "sunset", "link"]) assert.isNull(headers.get(name))
    await dispose()
  })

  it("only a deprecated endpoint is deprecated in the OpenAPI document", () => {
    const { paths } = OpenApi.fromApi(api)
    assert.strictEqual(paths["/old"]?.get?.deprecated, true)
    assert.isUndefined(paths["/current"]?.get?.deprecated)
  })
})
