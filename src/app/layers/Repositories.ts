import { Effect, Layer, Option } from "effect"
import { Settings } from "../../settings/Config.ts"
import * as Locale from "../../domain/schema/Locale.ts"
import { Plans } from "../../repositories/plans/Plans.ts"
import { IdempotentAnswers } from "../../repositories/idempotency/IdempotentAnswers.ts"
import { ApiKeys as ApiKeysRepository } from "../../repositories/keys/ApiKeys.ts"
import { AssetCategories } from "../../repositories/assets/AssetCategories.ts"
import { AssetMetaTags } from "../../repositories/assets/AssetMetaTags.ts"
import { Assets } from "../../repositories/assets/Assets.ts"
import { AssetSearch } from "../../repositories/assets/AssetSearch.ts"
import { Deltas } from "../../repositories/changes/Deltas.ts"
import { EventLog } from "../../repositories/changes/EventLog.ts"
import { Restoring } from "../../repositories/changes/Restoring.ts"
import { PastRecords } from "../../repositories/changes/PastRecords.ts"
import { Files } from "../../repositories/assets/Files.ts"
import { Groups } from "../../repositories/people/Groups.ts"
import { LocationMedia } from "../../repositories/locations/LocationMedia.ts"
import { Locations } from "../../repositories/locations/Locations.ts"
import { Territories } from "../../repositories/locations/Territories.ts"
import { Memberships } from "../../repositories/people/Memberships.ts"
import { MetaTags } from "../../repositories/assets/MetaTags.ts"
import { ThumbnailQueue } from "../../repositories/assets/ThumbnailQueue.ts"
import { Posts } from "../../repositories/posts/Posts.ts"
import { ProductModules } from "../../repositories/catalog/ProductModules.ts"
import { Products } from "../../repositories/catalog/Products.ts"
import { Coverage } from "../../repositories/quality/Coverage.ts"
import { LocationQuality } from "../../repositories/quality/LocationQuality.ts"
import { QualityRefresh } from "../../repositories/quality/QualityRefresh.ts"
import { Readiness } from "../../repositories/quality/Readiness.ts"
import { Reservations } from "../../repositories/catalog/Reservations.ts"
import { Uploads as UploadsRepository } from "../../repositories/assets/Uploads.ts"
import { Explanations } from "../../repositories/access/Explanations.ts"
import { Usages } from "../../repositories/access/Usages.ts"
import { Users } from "../../repositories/people/Users.ts"
import { Deliveries } from "../../repositories/webhooks/Deliveries.ts"
import { DeliveryQueue } from "../../repositories/webhooks/DeliveryQueue.ts"
import { Webhooks as WebhooksRepository } from "../../repositories/webhooks/Webhooks.ts"

/** Which locales are valid. */
export const locales = Layer.effect(
  Locale.Locales,
  Effect.map(Settings, ({ LOCALES }) => Locale.make(Option.getOrUndefined(LOCALES)))
)

/** Every repository. */
export const layer = Layer.mergeAll(
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
