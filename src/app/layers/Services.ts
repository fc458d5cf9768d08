import { Effect, Layer } from "effect"
import { Settings } from "../../settings/Config.ts"
import * as FileStore from "../FileStore.ts"
import { Renderer } from "../../media/Renderer.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { SignedUrls } from "../../services/SignedUrls.ts"
import { ApiKeys } from "../../services/ApiKeys.ts"
import { Cursors } from "../../services/changes/Cursors.ts"
import { ChangeFeed } from "../../services/changes/ChangeFeed.ts"
import { Events } from "../../services/changes/Events.ts"
import { Following } from "../../services/changes/Following.ts"
import { KeyEnds } from "../../services/KeyEnds.ts"
import { Mirrors } from "../../services/changes/Mirrors.ts"
import { Downloads } from "../../services/Downloads.ts"
import { PartUploads } from "../../services/PartUploads.ts"
import { Thumbnails } from "../../services/Thumbnails.ts"
import { Uploads } from "../../services/Uploads.ts"
import { Deliverer } from "../../services/webhooks/Deliverer.ts"
import { Egress } from "../../services/webhooks/Egress.ts"
import { Replays } from "../../services/webhooks/Replays.ts"
import { Sender } from "../../services/webhooks/Sender.ts"
import { Webhooks } from "../../services/webhooks/Webhooks.ts"
import * as FileStorage from "../../storage/FileStorage.ts"
import * as Repositories from "./Repositories.ts"

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

/** Every service, with the repositories. */
export const layer = Layer.mergeAll(Uploads.layer, Downloads.layer, Following.layer, Mirrors.layer, webhooks).pipe(
  Layer.provideMerge([Events.layer, ChangeFeed.layer, KeyEnds.layer]),
  Layer.provideMerge(Cursors.layer),
  Layer.provideMerge(Thumbnails.layer),
  Layer.provideMerge(ApiKeys.layer),
  Layer.provideMerge(storage),
  Layer.provideMerge(SignedUrls.layer),
  Layer.provideMerge(Renderer.layer),
  Layer.provideMerge(Repositories.layer)
)
