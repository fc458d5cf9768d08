import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Api } from "../../../src/api/Api.ts"
import { limits } from "../../../src/api/Limits.ts"
import * as Files from "../../../src/http/routes/Files.ts"
import * as Pages from "../../../src/http/routes/Pages.ts"
import * as UploadParts from "../../../src/http/routes/UploadParts.ts"
import * as SlowBody from "../../../src/http/streams/SlowBody.ts"
import { InFlight } from "../../../src/http/transport/InFlight.ts"
import { RouteTable } from "../../../src/http/transport/RouteTable.ts"
import { Shares } from "../../../src/http/transport/limits/Shares.ts"
import * as Transport from "../../../src/http/transport/Transport.ts"
import { patience, settings } from "../../support/TestServer.ts"

const limitsIn = (table: Layer.Layer<RouteTable>, method: string, url: string) =>
  Effect.map(RouteTable, ({ limitsOf }) => limitsOf(method, url)).pipe(Effect.provide(table))

const service = RouteTable.layer(Api, [...Pages.routes, Files.route, UploadParts.route])

/** Serves routes in memory with the limits of a table; returns the statuses of requests. */
const serve = Effect.fnUntraced(function* (
  table: Layer.Layer<RouteTable>,
  ...routes: ReadonlyArray<Layer.Layer<never, never, HttpRouter.HttpRouter>>
) {
  const app = Layer.mergeAll(Transport.layer, ...routes).pipe(
    Layer.provide([table, InFlight.layer, Shares.layer.pipe(Layer.provide(settings())), settings()])
  )
  const { dispose, handler } = HttpRouter.toWebHandler(app, { disableLogger: true })
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  return (path: string, sent?: RequestInit) =>
    Effect.promise(async () => (await handler(new Request(`http://waypost.test${path}`, sent))).status)
})

describe("the route table", () => {
  it.effect("the route table has the limits that a method of a route declares, and the defaults for all others", () =>
    Effect.gen(function* () {
      const ordinary = {
        answerMillis: 20_000,
        afterBodyMillis: undefined,
        hasSlowBody: false,
        inFlight: "requests",
        maxBodyBytes: undefined,
        share: undefined
      }
      const planning = {
        answerMillis: 600_000,
        afterBodyMillis: 120_000,
        hasSlowBody: true,
        maxBodyBytes: 50 * 1024 * 1024,
        share: "bulk"
      }
      for (const [method, url, values] of [
        ["PUT", "/v1/uploads/complete-multi-part", { answerMillis: 3_600_000 }],
        ["PUT", "/v1/uploads/complete-multi-part?x=1", { answerMillis: 3_600_000 }],
        ["PUT", "/v1/uploads/complete-multi-part/", { answerMillis: 3_600_000 }],
        ["PUT", "/v1/uploads/complete-multi-part/?x=1", { answerMillis: 3_600_000 }],
        ["PUT", "/v1/uploads/complete-multi-part/x", {}],
        ["PUT", "/uploads/0198d9e4/1?expires=1", { answerMillis: 86_400_000, hasSlowBody: true, inFlight: "parts" }],
        ["GET", "/healthz", { inFlight: "exempt" }],
        ["GET", "/readyz", { inFlight: "exempt" }],
        ["GET", "/healthzz", {}],
        ["POST", "/v1/uploads/init-multi-part", {}],
        ["GET", "/v1/locations", {}],
        ["POST", "/v1/locations/bulk", { maxBodyBytes: 8 * 1024 * 1024, share: "bulk" }],
        ["POST", "/v1/plans?resource=locations", planning],
        ["POST", "/v1/plans/0198d9e4/apply", { answerMillis: 120_000 }],
        ["GET", "/v1/plans/0198d9e4", {}],
        ["POST", "/v1/locations/bulk/", { maxBodyBytes: 8 * 1024 * 1024, share: "bulk" }],
        ["GET", "/files/0198d9e4/a.png?expires=1", { inFlight: "files" }],
        ["GET", "/files/0198d9e4", {}],
        ["GET", "/", {}],
        ["OPTIONS", "/uploads/0198d9e4/1", { answerMillis: 86_400_000, hasSlowBody: true, inFlight: "parts" }],
        ["HEAD", "/healthz", { inFlight: "exempt" }],
        ["GET", "/v1/locations/bulk", {}],
        ["DELETE", "/v1/groups/0198d9e4", { answerMillis: 120_000 }],
        ["POST", "/v1/locations/0198d9e4/erase-history", { answerMillis: 120_000 }],
        ["DELETE", "/v1/asset-categories/0198d9e4", { answerMillis: 120_000 }],
        ["DELETE", "/v1/meta-tags/0198d9e4", { answerMillis: 120_000 }],
        ["POST", "/v1/webhooks/0198d9e4/replay", { answerMillis: 120_000 }],
        ["POST", "/v1/webhooks/0198d9e4/test", {}],
        ["PATCH", "/v1/groups/0198d9e4", {}],
        ["PUT", "/v1/groups/0198d9e4/users", {}],
        ["DELETE", "/v1/users/0198d9e4", { answerMillis: 120_000 }],
        ["DELETE", "/v1/locations/0198d9e4", {}],
        ["POST", "/v1/groups/0198d9e4/restore", { answerMillis: 120_000 }],
        ["POST", "/v1/users/0198d9e4/restore", { answerMillis: 120_000 }],
        ["POST", "/v1/locations/0198d9e4/restore", { answerMillis: 120_000 }],
        ["POST", "/v1/posts/0198d9e4/restore", {}]
      ] as const) {
        assert.deepStrictEqual(
          yield* limitsIn(service, method, url),
          { ...ordinary, ...values } as never,
          `${method} ${url}`
        )
      }
    })
  )

  it.effect("knows the operations of the contract from the other routes", () =>
    Effect.gen(function* () {
      const { isOperation, routes } = yield* RouteTable
      assert.isTrue(isOperation("/v1/locations/:uuid"))
      for (const { path } of Pages.routes) assert.isFalse(isOperation(path), path)
      assert.isAbove(routes.length, 60)
    }).pipe(Effect.provide(service))
  )

  it.live("ends the answer of an endpoint at the time limit it declares", () =>
    Effect.gen(function* () {
      const slow = HttpApi.make("slow").add(
        HttpApiGroup.make("slow").add(HttpApiEndpoint.get("never", "/never").pipe(limits({ answerMillis: 50 })))
      )
      const statusOf = yield* serve(
        RouteTable.layer(slow, []).pipe(Layer.provide(patience)),
        HttpRouter.add("GET", "/never", Effect.never),
        HttpRouter.add("GET", "/later", Effect.as(Effect.sleep("200 millis"), HttpServerResponse.text("late")))
      )
      assert.deepStrictEqual(yield* Effect.all([statusOf("/never"), statusOf("/later")]), [503, 200])
    }).pipe(Effect.scoped)
  )

  it.live("gives an answer the time after a slow body that its endpoint declares, once the body has arrived", () =>
    Effect.gen(function* () {
      const hasSlowBody = true
      const slow = HttpApi.make("slow").add(
        HttpApiGroup.make("slow").add(
          HttpApiEndpoint.post("short", "/short").pipe(
            limits({ hasSlowBody, answerMillis: 60_000, afterBodyMillis: 50 })
          ),
          HttpApiEndpoint.post("long", "/long").pipe(
            limits({ hasSlowBody, answerMillis: 2000, afterBodyMillis: 60_000 })
          )
        )
      )
      const { read } = yield* SlowBody.make
      const add = (path: "/short" | "/long", work: Effect.Effect<void>) =>
        HttpRouter.add("POST", path, (request) =>
          Effect.flatMap(read(request), Stream.runDrain).pipe(
            Effect.orDie,
            Effect.andThen(work),
            Effect.as(HttpServerResponse.text("planned"))
          )
        )
      const statusOf = yield* serve(
        RouteTable.layer(slow, []),
        add("/short", Effect.never),
        add("/long", Effect.sleep("2500 millis"))
      )
      const sent = { method: "POST", body: "a body" }
      assert.deepStrictEqual(yield* Effect.all([statusOf("/short", sent), statusOf("/long", sent)]), [503, 200])
    }).pipe(Effect.scoped)
  )
})
