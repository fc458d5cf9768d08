import { Context, Duration, Effect, Schedule } from "effect"
import type { ApiKeyId } from "../domain/keys/ApiKey.ts"
import { FileNotFoundError } from "../domain/assets/File.ts"
import type { UploadComplete, UploadId } from "../domain/assets/Upload.ts"
import { ServiceUnavailableError } from "../domain/write/RequestErrors.ts"
import * as Written from "../domain/write/Written.ts"
import { Files } from "../repositories/assets/Files.ts"
import { claimSeconds, type StoredUpload, Uploads as Repository } from "../repositories/assets/Uploads.ts"
import type { MultipartUpload } from "../storage/Storage.ts"
import { lookups } from "./StoredUploads.ts"
import * as UploadCompletion from "./UploadCompletion.ts"

/** How long a completion waits for another one of the same upload: longer than the claim of a crashed process holds. */
export const CompletionPatience = Context.Reference<Duration.Input>(
  "waypost/services/UploadClaims/CompletionPatience",
  {
    defaultValue: () => Duration.seconds(claimSeconds + 10)
  }
)

const stillCompleting = new ServiceUnavailableError({
  message: "Another request is completing this upload; complete it again later"
})

/** An upload that this request may complete; without `stored`, another request has completed it. */
interface Claim {
  readonly upload: StoredUpload
  readonly stored: MultipartUpload | undefined
}

/** Completes an upload; of several concurrent requests, the one that holds the claim does it. */
export const make = Effect.gen(function* () {
  const repository = yield* Repository
  const files = yield* Files
  const completion = yield* UploadCompletion.make
  const patience = yield* CompletionPatience
  const { mine, storedOf } = lookups(repository)

  const claim = Effect.fnUntraced(function* (
    uuid: UploadId,
    key: ApiKeyId
  ): Effect.fn.Return<Claim | undefined, FileNotFoundError> {
    const upload = yield* mine(uuid, key)
    if (upload.status === "completed") return { upload, stored: undefined }
    const stored = yield* storedOf(upload)
    if (yield* repository.claim(uuid)) return { upload, stored }
    return undefined
  })

  /** Waits while another request holds the claim, and asks less and less often. */
  const claimOrWait = (uuid: UploadId, key: ApiKeyId) =>
    Effect.repeat(claim(uuid, key), {
      until: (found): found is Claim => found !== undefined,
      schedule: Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])
    }).pipe(
      Effect.flatMap((found) => (found === undefined ? Effect.die(stillCompleting) : Effect.succeed(found))),
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.die(stillCompleting) })
    )

  const completeClaimed = (upload: StoredUpload, stored: MultipartUpload, parts: UploadComplete["parts"]) =>
    completion(upload, stored, parts).pipe(
      Effect.raceFirst(Effect.forever(Effect.delay(repository.renew(upload.uuid), `${claimSeconds / 3} seconds`))),
      // Last, or a renewal that is under way could bring back the claim.
      Effect.ensuring(repository.release(upload.uuid)),
      Effect.catchTag("StorageUnavailableError", Effect.die)
    )

  return Effect.fn("Uploads.complete")(function* ({ parts, uuid }: UploadComplete, key: ApiKeyId) {
    const { stored, upload } = yield* claimOrWait(uuid, key)
    const { fileUuid } = upload
    if (stored !== undefined) {
      yield* completeClaimed(upload, stored, parts)
      // An upload that was ended in the meantime has no file.
      if ((yield* mine(uuid, key)).status !== "completed") return yield* FileNotFoundError.of(uuid)
    }
    const answer = { fileUuid, url: yield* files.url(fileUuid) }
    return { ...Written.created("files", fileUuid), changed: stored !== undefined, answer }
  })
})
