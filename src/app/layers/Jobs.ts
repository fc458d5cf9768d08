import { Effect, Layer } from "effect"
import * as AssetTexts from "../../jobs/AssetTexts.ts"
import * as PostSchedule from "../../jobs/PostSchedule.ts"
import * as LocationQualityJobs from "../../jobs/LocationQuality.ts"
import * as RowCounts from "../../jobs/RowCounts.ts"
import * as ThumbnailJobs from "../../jobs/ThumbnailJobs.ts"
import * as Pruning from "../../jobs/Pruning.ts"
import * as DeliveryJobs from "../../jobs/Deliveries.ts"
import * as Sealing from "../../jobs/Sealing.ts"
import * as Statistics from "../../jobs/Statistics.ts"
import * as StorageCheck from "../../jobs/StorageCheck.ts"
import * as Sweeper from "../../jobs/Sweeper.ts"
import { InFlight } from "../../http/transport/InFlight.ts"
import * as FileStore from "../FileStore.ts"
import * as Repositories from "./Repositories.ts"

/** Ends when the port is about to be closed. */
const closing = Effect.flatMap(InFlight, ({ onDrain }) =>
  Effect.callback<void>((resume) => onDrain(() => resume(Effect.void)))
)

/** Jobs that run concurrently with requests. */
export const layer = Layer.mergeAll(
  RowCounts.layer,
  Statistics.layer,
  LocationQualityJobs.layer,
  AssetTexts.layer,
  ThumbnailJobs.layer,
  Sweeper.layer,
  StorageCheck.layer(FileStore.name),
  Sealing.layer,
  Pruning.layer,
  DeliveryJobs.layer(closing),
  PostSchedule.layer.pipe(Layer.provide(Repositories.locales))
)
