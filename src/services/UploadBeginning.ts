import mime from "mime-types"
import { Cause, DateTime, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { CallingKey } from "../domain/keys/ApiKey.ts"
import { FileId, storageKey } from "../domain/assets/File.ts"
import { openUploads, partSizeOf, UploadId, type UploadInit, type UploadSession } from "../domain/assets/Upload.ts"
import { InvalidRequestError, RateLimitExceededError } from "../domain/write/RequestErrors.ts"
import * as Written from "../domain/write/Written.ts"
import { Files } from "../repositories/assets/Files.ts"
import { type StoredUpload, Uploads as Repository } from "../repositories/assets/Uploads.ts"
import { Settings, unattachedBytesOf } from "../settings/Config.ts"
import { type MultipartUpload, Storage } from "../storage/Storage.ts"
import { partUrls } from "./StoredUploads.ts"
import { isBlocked } from "./UploadRules.ts"

/** Begins an upload, in the database and in the storage. */
export const make = Effect.gen(function* () {
  const settings = yield* Settings
  const { UPLOAD_MAX_BYTES: maxBytes } = settings
  const maxUnattached = unattachedBytesOf(settings)
  const repository = yield* Repository
  const files = yield* Files
  const storage = yield* Storage
  const urlsOf = partUrls(storage)

  return Effect.fn("Uploads.initialize")(function* (init: UploadInit, key: CallingKey) {
    const { fileName, fileSize } = init
    const contentType = yield* acceptedType(init, settings)
    if (fileSize > maxBytes)
      return yield* InvalidRequestError.inBody("fileSize", "tooLarge", `A file has at most ${maxBytes} bytes here`)
    const partSize = partSizeOf(fileSize)
    const uuid = UploadId.make(SecureRandom.uuidV7Unsafe())
    const fileUuid = FileId.make(SecureRandom.uuidV7Unsafe())
    const numberOfParts = Math.ceil(fileSize / partSize)
    const sha256 = init.sha256 ?? undefined
    let stored: MultipartUpload | undefined
    const inStorage = Effect.fnUntraced(function* ({ expiresAt }: StoredUpload) {
      stored = yield* storage.begin(storageKey(fileUuid), contentType)
      yield* repository.started(uuid, stored.id)
      const parts = yield* urlsOf(stored, fileSize, numbersTo(numberOfParts))
      // A key that cannot read assets does not learn that one has this content.
      const isReported = sha256 !== undefined && key.permissions.has("read:assets")
      const duplicate = isReported ? yield* files.findDuplicate(sha256, fileSize) : Option.none()
      const answer: UploadSession = {
        uuid,
        numberOfParts,
        parts,
        partSize,
        expiresAt: DateTime.makeUnsafe(expiresAt),
        requiredHeaders: {},
        ...(Option.isSome(duplicate) ? { duplicateOf: duplicate.value } : {})
      }
      return { ...Written.created("uploads", uuid), answer }
    }, Effect.orDie)
    return yield* repository
      .begin(
        { uuid, apiKeyUuid: key.uuid, fileUuid, fileName, fileSize, contentType, sha256, partSize, numberOfParts },
        maxBytes,
        { share: key.share, maxBytes: maxUnattached }
      )
      .pipe(
        Effect.flatMap(inStorage),
        // The client does not learn of this upload, so that it could not end it. An interrupted transaction may have been
        // committed; a rejected upload, the only failure that is not a defect, was not.
        Effect.onError((cause) =>
          Cause.hasFails(cause)
            ? Effect.void
            : Effect.andThen(
                Effect.ignoreCause(repository.discard(uuid)),
                stored === undefined ? Effect.void : Effect.ignoreCause(storage.abort(stored))
              )
        ),
        Effect.catchTags({
          TooManyOpen: () => tooManyOpen(maxBytes),
          TooManyUnattached: ({ freedInSeconds }) => Effect.die(tooManyUnattached(maxUnattached, freedInSeconds))
        })
      )
  })
})

/** The declared type of the file, or that of its name; neither they nor the extension may be blocked. */
const acceptedType = ({ contentType, fileName }: UploadInit, settings: Settings["Service"]) => {
  // Windows ignores dots and spaces at the end of a name.
  const name = fileName.slice(0, fileName.split("").findLastIndex((one) => one !== "." && one !== " ") + 1)
  const byName = mime.lookup(name) || "application/octet-stream"
  const declared = (contentType ?? byName).split(";")[0]!.trim().toLowerCase()
  const rejected = [declared, byName].find((type) => isBlocked(type, settings.UPLOAD_BLOCKED_TYPES))
  // Windows also runs a file whose name is only an extension.
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""
  if (rejected !== undefined) {
    const member = contentType && rejected === declared ? "contentType" : "fileName"
    return notAllowed(member, `Files of the type ${rejected} are not accepted`)
  }
  return settings.UPLOAD_BLOCKED_EXTENSIONS.includes(extension)
    ? notAllowed("fileName", `Files with the extension .${extension} are not accepted`)
    : Effect.succeed(declared)
}

const notAllowed = (member: string, message: string) =>
  Effect.fail(InvalidRequestError.inBody(member, "notAllowed", message))

const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

const tooManyOpen = (maxBytes: number) =>
  InvalidRequestError.inBody(
    "",
    "tooManyOpen",
    `This key may have ${openUploads.count} uploads open, of ${openUploads.maxFiles * maxBytes} bytes together; complete or abort some first`
  )

const tooManyUnattached = (maxBytes: number, freedInSeconds: number) =>
  RateLimitExceededError.retryIn(
    `This key may have ${maxBytes} bytes in open uploads and in files that no record uses, of the last 24 hours ` +
      "(UNATTACHED_BYTES_PER_KEY); use the files in a record or abort uploads, or try again",
    freedInSeconds
  )
