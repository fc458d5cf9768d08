import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Context, Effect, Layer, type Scope } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { maxBodyBytes, maxPathBytes } from "../api/Limits.ts"
import { Settings } from "../settings/Config.ts"
import * as InFlight from "../http/transport/InFlight.ts"
import * as FilesHttp from "../http/routes/Files.ts"
import * as NodeServer from "../http/transport/NodeServer.ts"
import * as Pages from "../http/routes/Pages.ts"
import { RouteTable } from "../http/transport/RouteTable.ts"
import { TimeLimits } from "../http/transport/Timeout.ts"
import { Shares } from "../http/transport/limits/Shares.ts"
import { Streams } from "../http/streams/Streams.ts"
import * as Transport from "../http/transport/Transport.ts"
import * as UploadPartsHttp from "../http/routes/UploadParts.ts"
import * as Handlers from "./layers/Handlers.ts"
import * as Jobs from "./layers/Jobs.ts"
import * as Services from "./layers/Services.ts"

/** The routes of the contract and all others, with their limits. */
export const routeTable = RouteTable.layer(Api, [...Pages.routes, FilesHttp.route, UploadPartsHttp.route])

/** Every route of the service and its jobs; requires settings, a database, a public address and a platform. */
export const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api),
  Pages.layer,
  FilesHttp.layer,
  UploadPartsHttp.layer,
  Transport.layer,
  Jobs.layer
).pipe(
  Layer.provide(Handlers.layer),
  Layer.provide(Handlers.middleware),
  Layer.provide(Services.layer),
  Layer.provide(routeTable),
  Layer.provide(Streams.layer),
  Layer.provide([InFlight.InFlight.layer, Shares.layer])
)

/** How paths are matched, and the maximum size of a body. */
export const limits = Layer.mergeAll(
  Layer.succeed(HttpRouter.RouterConfig, {
    caseSensitive: true,
    ignoreDuplicateSlashes: false,
    maxParamLength: maxPathBytes
  }),
  Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes))
)

/** The context of a request: without the services of the application, which handlers take when they are built. */
const ofRequests = (services: Context.Context<HttpServer.HttpServer | Scope.Scope>): typeof services =>
  Context.makeUnsafe(new Map([...services.mapUnsafe].filter(([key]) => !key.startsWith("waypost/"))))

/** Serves the routes as `HttpRouter.serve` does, but without every service in the context of each request. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const built = yield* Layer.build(Layer.provideMerge(routes, HttpRouter.layer))
    const answer = Context.get(built, HttpRouter.HttpRouter).asHttpEffect()
    yield* HttpServer.serveEffect(answer).pipe(Effect.updateContext(ofRequests))
  })
).pipe(Layer.provide(limits))

/** A listening server. */
export const listen = Layer.unwrap(
  Effect.gen(function* () {
    const { HOST: host, PORT: port, WORKERS } = yield* Settings
    const { drain, onDrain } = yield* InFlight.InFlight
    const { limitsOf } = yield* RouteTable
    const { body: bodyMillis, read: readLimits } = yield* TimeLimits
    const server = NodeHttpServer.layer(() => NodeServer.make({ bodyMillis, readLimits, limitsOf, onDrain }), {
      host,
      port,
      reusePort: WORKERS !== 1,
      gracefulShutdownTimeout: "20 seconds"
    })
    // A start that fails, or is stopped, has not got as far as `drainFirst`.
    return Layer.provideMerge(Layer.effectDiscard(Effect.addFinalizer(() => drain(0))), server)
  })
).pipe(Layer.provide(routeTable))
