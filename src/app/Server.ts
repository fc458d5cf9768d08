import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Context, Effect, Layer, Option, type Scope } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { RateLimiter } from "effect/persistence"
import { Api } from "../api/Api.ts"
import { Settings } from "../settings/Config.ts"
import * as FileStore from "./FileStore.ts"
import * as Locale from "../domain/schema/Locale.ts"
import * as ApiKeysHttp from "../http/handlers/ApiKeys.ts"
import * as AssetsHttp from "../http/handlers/Assets.ts"
import * as AssetCategoriesHttp from "../http/handlers/AssetCategories.ts"
import * as AuthorizationHttp from "../http/transport/Authorization.ts"
import * as InFlight from "../http/transport/InFlight.ts"
import * as ErrorBoundaryHttp from "../http/transport/ErrorBoundary.ts"
import * as FilesHttp from "../http/routes/Files.ts"
import * as EventsHttp from "../http/handlers/Events.ts"
import * as GroupsHttp from "../http/handlers/Groups.ts"
import * as LocationsHttp from "../http/handlers/Locations.ts"
import * as MetaTagsHttp from "../http/handlers/MetaTags.ts"
import * as NodeServer from "../http/transport/NodeServer.ts"
import * as Pages from "../http/routes/Pages.ts"
import * as SafeWritesHttp from "../http/transport/SafeWrites.ts"
import { Plans } from "../repositories/plans/Plans.ts"
import { IdempotentAnswers } from "../repositories/idempotency/IdempotentAnswers.ts"
import * as PostsHttp from "../http/handlers/Posts.ts"
import * as ProductsHttp from "../http/handlers/Products.ts"
import * as QualityHttp from "../http/handlers/Quality.ts"
import * as ReservationsHttp from "../http/handlers/Reservations.ts"
import { RouteTable } from "../http/transport/RouteTable.ts"
import { TimeLimits } from "../http/transport/Timeout.ts"
import { Shares } from "../http/transport/Shares.ts"
import { Streams } from "../http/streams/Streams.ts"
import * as Transport from "../http/transport/Transport.ts"
import * as UploadPartsHttp from "../http/routes/UploadParts.ts"
import * as UploadsHttp from "../http/handlers/Uploads.ts"
import * as AccessHttp from "../http/handlers/Access.ts"
import * as UsagesHttp from "../http/handlers/Usages.ts"
import * as UsersHttp from "../http/handlers/Users.ts"
import * as PlansHttp from "../http/handlers/Plans.ts"
import * as WebhooksHttp from "../http/handlers/Webhooks.ts"
import { Renderer } from "../media/Renderer.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { ApiKeys as ApiKeysRepository } from "../repositories/keys/ApiKeys.ts"
import { AssetCategories } from "../repositories/assets/AssetCategories.ts"
import { AssetMetaTags } from "../repositories/assets/AssetMetaTags.ts"
import { Assets } from "../repositories/assets/Assets.ts"
import { AssetSearch } from "../repositories/assets/AssetSearch.ts"
import * as AssetTexts from "../jobs/AssetTexts.ts"
import { Deltas } from "../repositories/changes/Deltas.ts"
import { EventLog } from "../repositories/changes/EventLog.ts"
import { Restoring } from "../repositories/changes/Restoring.ts"
import { PastRecords } from "../repositories/changes/PastRecords.ts"
import { Files } from "../repositories/assets/Files.ts"
import { Groups } from "../repositories/people/Groups.ts"
import { LocationMedia } from "../repositories/locations/LocationMedia.ts"
import { Locations } from "../repositories/locations/Locations.ts"
import { Territories } from "../repositories/locations/Territories.ts"
import { Memberships } from "../repositories/people/Memberships.ts"
import { MetaTags } from "../repositories/assets/MetaTags.ts"
import { ThumbnailQueue } from "../repositories/assets/ThumbnailQueue.ts"
import { Posts } from "../repositories/posts/Posts.ts"
import * as PostSchedule from "../jobs/PostSchedule.ts"
import { ProductModules } from "../repositories/catalog/ProductModules.ts"
import { Products } from "../repositories/catalog/Products.ts"
import { Coverage } from "../repositories/quality/Coverage.ts"
import { LocationQuality } from "../repositories/quality/LocationQuality.ts"
import { QualityRefresh } from "../repositories/quality/QualityRefresh.ts"
import { Readiness } from "../repositories/quality/Readiness.ts"
import { Reservations } from "../repositories/catalog/Reservations.ts"
import * as RateLimits from "../repositories/keys/RateLimits.ts"
import * as LocationQualityJobs from "../jobs/LocationQuality.ts"
import * as RowCounts from "../jobs/RowCounts.ts"
import { Uploads as UploadsRepository } from "../repositories/assets/Uploads.ts"
import { Explanations } from "../repositories/access/Explanations.ts"
import { Usages } from "../repositories/access/Usages.ts"
import { Users } from "../repositories/people/Users.ts"
import { Deliveries } from "../repositories/webhooks/Deliveries.ts"
import { DeliveryQueue } from "../repositories/webhooks/DeliveryQueue.ts"
import { Webhooks as WebhooksRepository } from "../repositories/webhooks/Webhooks.ts"
import { SignedUrls } from "../services/SignedUrls.ts"
import { ApiKeys } from "../services/ApiKeys.ts"
import { Cursors } from "../services/changes/Cursors.ts"
import { ChangeFeed } from "../services/changes/ChangeFeed.ts"
import { Events } from "../services/changes/Events.ts"
import { Following } from "../services/changes/Following.ts"
import { KeyEnds } from "../services/KeyEnds.ts"
import { OwnWrites } from "../sql/connections/OwnWrites.ts"
import { Mirrors } from "../services/changes/Mirrors.ts"
import { Downloads } from "../services/Downloads.ts"
import { PartUploads } from "../services/PartUploads.ts"
import * as ThumbnailJobs from "../jobs/ThumbnailJobs.ts"
import { Thumbnails } from "../services/Thumbnails.ts"
import * as Pruning from "../jobs/Pruning.ts"
import * as DeliveryJobs from "../jobs/Deliveries.ts"
import * as Sealing from "../jobs/Sealing.ts"
import * as Sweeper from "../jobs/Sweeper.ts"
import { Uploads } from "../services/Uploads.ts"
import { Deliverer } from "../services/webhooks/Deliverer.ts"
import { Egress } from "../services/webhooks/Egress.ts"
import { Replays } from "../services/webhooks/Replays.ts"
import { Sender } from "../services/webhooks/Sender.ts"
import { Webhooks } from "../services/webhooks/Webhooks.ts"
import { Replicas } from "../sql/connections/Replicas.ts"
import * as FileStorage from "../storage/FileStorage.ts"

const locales = Layer.effect(
  Locale.Locales,
  Effect.map(Settings, ({ LOCALES }) => Locale.make(Option.getOrUndefined(LOCALES)))
)

const repositories = Layer.mergeAll(
  ApiKeysRepository.layer,
  EventLog.layer,
  Deltas.layer,
  IdempotentAnswers.layer,
  Plans.layer,
  PastRecords.layer,
  Restoring.layer,
  Users.layer,
  Locations.layer,
  Territories.layer,
  LocationMedia.layer,
  Groups.layer,
  Products.layer,
  Reservations.layer,
  Posts.layer,
  Explanations.layer,
  Usages.layer,
  Readiness.layer,
  Coverage.layer,
  LocationQuality.layer,
  QualityRefresh.layer,
  UploadsRepository.layer,
  AssetSearch.layer,
  WebhooksRepository.layer,
  Deliveries.layer,
  DeliveryQueue.layer
).pipe(
  Layer.provideMerge(ProductModules.layer),
  Layer.provideMerge(Assets.layer),
  Layer.provideMerge(AssetMetaTags.layer),
  Layer.provideMerge(MetaTags.layer),
  Layer.provideMerge([Memberships.layer, AssetCategories.layer, Files.layer, ThumbnailQueue.layer]),
  Layer.provide(locales)
)

/** The storage of the settings, and the receiver of upload parts. */
const storage = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Settings
    if (settings.STORAGE === "s3") return Layer.merge(FileStore.bucket(settings), PartUploads.layerS3)
    const root = yield* FileStore.folder
    const secret = (yield* SignedUrls).derivedKey("parts")
    const { origin } = yield* PublicUrl
    return Layer.provideMerge(PartUploads.layerFile, FileStorage.layer({ root, publicUrl: origin, secret }))
  })
)

const webhooks = Layer.mergeAll(Replays.layer, Deliverer.layer).pipe(
  Layer.provideMerge(Webhooks.layer),
  Layer.provide(Sender.layer),
  Layer.provide(Egress.layer)
)

export const services = Layer.mergeAll(Uploads.layer, Downloads.layer, Following.layer, Mirrors.layer, webhooks).pipe(
  Layer.provideMerge([Events.layer, ChangeFeed.layer, KeyEnds.layer]),
  Layer.provideMerge(Cursors.layer),
  Layer.provideMerge(Thumbnails.layer),
  Layer.provideMerge(ApiKeys.layer),
  Layer.provideMerge(storage),
  Layer.provideMerge(SignedUrls.layer),
  Layer.provideMerge(Renderer.layer),
  Layer.provideMerge(repositories)
)
const rateLimiter = RateLimiter.layer.pipe(Layer.provide(RateLimits.layer))
const ownWrites = OwnWrites.layer.pipe(Layer.provide(Replicas.layer))
const middleware = Layer.mergeAll(AuthorizationHttp.layer, ErrorBoundaryHttp.layer, SafeWritesHttp.layer).pipe(
  Layer.provide([rateLimiter, ownWrites])
)
const handlers = Layer.mergeAll(
  UsersHttp.layer,
  LocationsHttp.layer,
  GroupsHttp.layer,
  UploadsHttp.layer,
  AssetsHttp.layer,
  AssetCategoriesHttp.layer,
  MetaTagsHttp.layer,
  ProductsHttp.layer,
  ReservationsHttp.layer,
  PostsHttp.layer,
  AccessHttp.layer,
  UsagesHttp.layer,
  QualityHttp.layer,
  ApiKeysHttp.layer,
  EventsHttp.layer,
  WebhooksHttp.layer,
  PlansHttp.layer
)

/** Jobs that run concurrently with requests. */
const background = Layer.mergeAll(
  RowCounts.layer,
  LocationQualityJobs.layer,
  AssetTexts.layer,
  ThumbnailJobs.layer,
  Sweeper.layer,
  Sealing.layer,
  Pruning.layer,
  DeliveryJobs.layer,
  PostSchedule.layer.pipe(Layer.provide(locales))
)

/** The routes of the contract and all others, with their limits. */
export const routeTable = RouteTable.layer(Api, [...Pages.routes, FilesHttp.route, UploadPartsHttp.route])

/** Every route of the service; requires settings, a database, a public address and a platform. */
export const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api),
  Pages.layer,
  FilesHttp.layer,
  UploadPartsHttp.layer,
  Transport.layer,
  background
).pipe(
  Layer.provide(handlers),
  Layer.provide(middleware),
  Layer.provide(services),
  Layer.provide(routeTable),
  Layer.provide(Streams.layer),
  Layer.provide([InFlight.InFlight.layer, Shares.layer])
)

/** How paths are matched, and the maximum size of a body. */
export const limits = Layer.mergeAll(
  Layer.succeed(HttpRouter.RouterConfig, { caseSensitive: true, ignoreDuplicateSlashes: false, maxParamLength: 2048 }),
  Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.mebibytes(1))
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
    const { onDrain } = yield* InFlight.InFlight
    const { limitsOf } = yield* RouteTable
    const { body: bodyMillis, read: readLimits } = yield* TimeLimits
    return NodeHttpServer.layer(() => NodeServer.make({ bodyMillis, readLimits, limitsOf, onDrain }), {
      host,
      port,
      reusePort: WORKERS !== 1,
      gracefulShutdownTimeout: "20 seconds"
    })
  })
).pipe(Layer.provide(routeTable))
