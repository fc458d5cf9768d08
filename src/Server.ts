import { NodeHttpServer } from "@effect/platform-node"
import { ByteSize, Effect, Layer, Option } from "effect"
import { HttpIncomingMessage, HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { RateLimiter } from "effect/persistence"
import { Api } from "./api/Api.ts"
import { Settings } from "./Config.ts"
import * as Locale from "./domain/Locale.ts"
import * as ApiKeysHttp from "./http/ApiKeys.ts"
import * as AuthorizationHttp from "./http/Authorization.ts"
import * as Traffic from "./http/Traffic.ts"
import * as ErrorBoundaryHttp from "./http/ErrorBoundary.ts"
import * as GroupsHttp from "./http/Groups.ts"
import * as LocationsHttp from "./http/Locations.ts"
import * as NodeServer from "./http/NodeServer.ts"
import * as Pages from "./http/Pages.ts"
import * as PostsHttp from "./http/Posts.ts"
import * as ProductsHttp from "./http/Products.ts"
import * as Transport from "./http/Transport.ts"
import * as UsersHttp from "./http/Users.ts"
import { ApiKeys as ApiKeysRepository } from "./repositories/ApiKeys.ts"
import { Groups } from "./repositories/Groups.ts"
import { Locations } from "./repositories/Locations.ts"
import { Memberships } from "./repositories/Memberships.ts"
import { Posts } from "./repositories/Posts.ts"
import * as PostSchedule from "./repositories/PostSchedule.ts"
import { ProductModules } from "./repositories/ProductModules.ts"
import { Products } from "./repositories/Products.ts"
import * as RowCounts from "./repositories/RowCounts.ts"
import { Users } from "./repositories/Users.ts"
import { ApiKeys } from "./services/ApiKeys.ts"

const locales = Layer.effect(
  Locale.Locales,
  Effect.map(Settings, ({ LOCALES }) => Locale.make(Option.getOrUndefined(LOCALES)))
)

const repositories = Layer.mergeAll(
  ApiKeysRepository.layer,
  Users.layer,
  Locations.layer,
  Groups.layer,
  Products.layer,
  Posts.layer
).pipe(Layer.provideMerge(ProductModules.layer), Layer.provideMerge(Memberships.layer), Layer.provide(locales))
export const services = Layer.provideMerge(ApiKeys.layer, repositories)
const rateLimiter = RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))
const middleware = Layer.mergeAll(AuthorizationHttp.layer, ErrorBoundaryHttp.layer).pipe(Layer.provide(rateLimiter))
const handlers = Layer.mergeAll(
  UsersHttp.layer,
  LocationsHttp.layer,
  GroupsHttp.layer,
  ProductsHttp.layer,
  PostsHttp.layer,
  ApiKeysHttp.layer
)

/** Every route of the service; still needs settings, a database and a platform. */
export const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api),
  Pages.layer,
  Transport.layer(Pages.paths),
  RowCounts.layer,
  PostSchedule.layer.pipe(Layer.provide(locales))
).pipe(
  Layer.provide(handlers),
  Layer.provide(middleware),
  Layer.provide(services),
  Layer.provide(Traffic.Traffic.layer)
)

/** How strictly paths are read, and how much of a body. */
export const limits = Layer.mergeAll(
  Layer.succeed(HttpRouter.RouterConfig, { caseSensitive: true, ignoreDuplicateSlashes: false, maxParamLength: 2048 }),
  Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.mebibytes(1))
)

/** The routes, served. */
export const layer = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provide(limits)
)

/** A listening server. */
export const listen = Layer.unwrap(
  Effect.gen(function* () {
    const { HOST: host, PORT: port } = yield* Settings
    const { onDrain } = yield* Traffic.Traffic
    return NodeHttpServer.layer(() => NodeServer.make(onDrain), { host, port, gracefulShutdownTimeout: "20 seconds" })
  })
)
