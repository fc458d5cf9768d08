import { assert, layer } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { InFlight } from "../../src/http/transport/InFlight.ts"
import { RouteTable } from "../../src/http/transport/RouteTable.ts"
import * as Services from "../../src/app/layers/Services.ts"
import * as Server from "../../src/app/Server.ts"
import { operations } from "../support/contract/Documented.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Postgres from "../support/Postgres.ts"
import { publicUrl, settings } from "../support/TestServer.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"
import { noUuids, unknownPaths } from "./Words.ts"

/** The documented routes that are not operations, and the routes of signed URLs. */
const documented = [
  "GET /",
  "GET /docs",
  "GET /docs/{guide}",
  "GET /docs/reference/{resource}",
  "GET /docs/assets/{file}",
  "GET /console",
  "GET /console/{screen}",
  "GET /console/{screen}/{record}",
  "GET /console/{screen}/{record}/{tab}",
  "GET /console/files/{file}",
  "GET /v1/openapi.json",
  "GET /healthz",
  "GET /readyz",
  "GET /metrics"
]
const signedUrls = ["GET /files/{uuid}/{name}", "PUT /uploads/{upload}/{part}"]
/** The CORS preflights of the signed URLs. */
const preflights = signedUrls.map((route) => route.replace(/^\w+/, "OPTIONS"))

const braced = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}").replace(/(.)\/$/, "$1")

/** Every route of the service. */
const routes = Effect.gen(function* () {
  const added: Array<string> = []
  const note = (method: string, path: string) => void added.push(`${method} ${braced(path)}`)
  const router = yield* HttpRouter.make
  const recording: HttpRouter.HttpRouter = {
    ...router,
    prefixed: (prefix) => assert.fail(`The routes below ${prefix} are not recorded`),
    add: (method, path, ...rest) => {
      note(method, path)
      return router.add(method, path, ...rest)
    },
    addAll: (all) => {
      for (const { method, path } of all) note(method, path)
      return router.addAll(all)
    }
  }
  yield* Layer.build(
    Server.routes.pipe(
      Layer.provide([Services.layer, HttpServer.layerServices, InFlight.layer]),
      Layer.provide([publicUrl, NodeServices.layer, Layer.succeed(HttpRouter.HttpRouter, recording)]),
      Layer.provide(Postgres.sql),
      Layer.provide(settings())
    ) as Layer.Layer<never>
  )
  return added
})

layer(Layer.empty, { excludeTestServices: true })("router", (it) => {
  it.effect(
    "the router has the operations of the OpenAPI document, the documented routes, and no other routes",
    (ctx) =>
      Effect.gen(function* () {
        const found = yield* Effect.scoped(routes)
        const expected = operations.map(({ method, path }) => `${method} ${path}`)
        yield* Effect.promise(() => report(ctx, { routes: found.length, operations: expected.length }))
        assert.sameMembers(found, [...expected, ...documented, ...signedUrls, ...preflights])
        const table = Server.routeTable.pipe(Layer.build, Effect.scoped)
        const { routes: known } = Context.get(yield* table, RouteTable)
        const inTable = known.map(({ method, path }) => `${method} ${braced(path)}`)
        assert.sameMembers(inTable, [...expected, ...documented, ...signedUrls])
      })
  )
})

layer(listening(), { excludeTestServices: true })("unknown paths", (it) => {
  it.effect("an unknown path is a 404 with every key, in every spelling", (ctx) =>
    Effect.gen(function* () {
      const { key, send } = yield* Wire
      const weak = yield* key(["read:groups"])
      const wrong = yield* Effect.forEach(
        unknownPaths,
        Effect.fnUntraced(function* (path, index) {
          const held = [undefined, weak, null][index % 3]
          const asked = send("GET", path, held === undefined ? {} : { key: held })
          // On a busy machine this process, which is the client too, may pause for longer than a request may take to arrive.
          const { body, status, text } = yield* Effect.repeat(asked, {
            while: ({ status }) => status === 408,
            times: 5
          })
          return status === 404 && body?._tag === "RouteNotFoundError"
            ? []
            : [`${path}: ${status} ${text.slice(0, 100)}`]
        }),
        { concurrency: 8 }
      )
      yield* Effect.promise(() => report(ctx, { "unknown paths": unknownPaths.length, found: wrong.flat().length }))
      assert.isAbove(unknownPaths.length, 400)
      assert.deepStrictEqual(wrong.flat(), [])
    })
  )

  it.effect("a path with a word in place of a uuid is a 400", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      for (const path of noUuids) {
        const { body, status, text } = yield* send("GET", path)
        assert.deepStrictEqual([status, body._tag], [400, "InvalidRequestError"], `${path} ${text}`)
        assert.strictEqual((yield* send("GET", path, { key: null })).status, 401, path)
      }
    })
  )

  // The typed client writes lists that way. It is the same route and requires the same permission.
  it.effect("a path with one trailing slash is the same route", () =>
    Effect.gen(function* () {
      const { key, send } = yield* Wire
      const weak = yield* key(["read:groups"])
      const paths = [...documented.slice(1).map((route) => route.slice("GET ".length)), "/v1/locations", "/v1/me"]
      for (const path of paths) {
        for (const held of [null, weak]) {
          const [plain, slashed, twice] = [path, `${path}/`, `${path}//`].map((asked) =>
            send("GET", asked, { key: held })
          )
          assert.strictEqual((yield* slashed!).status, (yield* plain!).status, path)
          assert.include([400, 401, 403, 404], (yield* twice!).status, path)
        }
      }
    })
  )
})
