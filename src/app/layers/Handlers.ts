import { Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import * as ApiKeysHttp from "../../http/handlers/ApiKeys.ts"
import * as AssetsHttp from "../../http/handlers/Assets.ts"
import * as AssetCategoriesHttp from "../../http/handlers/AssetCategories.ts"
import * as AuthorizationHttp from "../../http/transport/Authorization.ts"
import * as ErrorBoundaryHttp from "../../http/transport/ErrorBoundary.ts"
import * as EventsHttp from "../../http/handlers/Events.ts"
import * as GroupsHttp from "../../http/handlers/Groups.ts"
import * as LocationsHttp from "../../http/handlers/Locations.ts"
import * as MetaTagsHttp from "../../http/handlers/MetaTags.ts"
import * as SafeWritesHttp from "../../http/transport/SafeWrites.ts"
import * as PostsHttp from "../../http/handlers/Posts.ts"
import * as ProductsHttp from "../../http/handlers/Products.ts"
import * as QualityHttp from "../../http/handlers/Quality.ts"
import * as ReservationsHttp from "../../http/handlers/Reservations.ts"
import * as UploadsHttp from "../../http/handlers/Uploads.ts"
import * as AccessHttp from "../../http/handlers/Access.ts"
import * as UsagesHttp from "../../http/handlers/Usages.ts"
import * as UsersHttp from "../../http/handlers/Users.ts"
import * as PlansHttp from "../../http/handlers/Plans.ts"
import * as WebhooksHttp from "../../http/handlers/Webhooks.ts"
import { BulkResources } from "../../http/handlers/writes/BulkResources.ts"
import * as RateLimits from "../../repositories/keys/RateLimits.ts"
import { OwnWrites } from "../../sql/connections/OwnWrites.ts"
import { Replicas } from "../../sql/connections/Replicas.ts"

const rateLimiter = RateLimiter.layer.pipe(Layer.provide(RateLimits.layer))

const ownWrites = OwnWrites.layer.pipe(Layer.provide(Replicas.layer))

/** What surrounds every operation. */
export const middleware = Layer.mergeAll(AuthorizationHttp.layer, ErrorBoundaryHttp.layer, SafeWritesHttp.layer).pipe(
  Layer.provide([rateLimiter, ownWrites])
)

/** The implementation of every group of the contract. */
export const layer = Layer.mergeAll(
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
).pipe(Layer.provide(BulkResources.layer))
