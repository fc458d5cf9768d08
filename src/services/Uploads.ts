import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import mime from "mime-types"
import { Settings } from "../settings/Config.ts"
import type { ApiKeyId } from "../domain/keys/ApiKey.ts"
import { FileId, FileNotFoundError, storageKey } from "../domain/assets/File.ts"
import { InvalidRequestError } from "../domain/write/RequestErrors.ts"
import {
  type CompletedUpload,
  openUploads,
  partSizeOf,
  type PartUrl,
  partUrlSeconds,
  uploadError,
  type Upload,
  type UploadComplete,
  UploadId,
  type UploadInit,
  type UploadSession
} from "../domain/assets/Upload.ts"
import { Files } from "../repositories/assets/Files.ts"
import { claimSeconds, type StoredUpload, Uploads as Repository } from "../repositories/assets/Uploads.ts"
import { type MultipartUpload, Storage, type StorageUnavailableError } from "../storage/Storage.ts"
import * as UploadCompletion from "./UploadCompletion.ts"
import { isBlocked } from "./UploadRules.ts"

/**
 * Files on their way in: begun here, sent in parts straight to the storage, and made a file here when all parts are
 * there. The bytes come first and the row after them, so that a file that is known has its bytes; what a crash leaves
 * behind has no row, and is swept.
 */
export class Uploads extends Context.Service<
  Uploads,
  {
    initialize(init: UploadInit, key: ApiKeyId): Effect.Effect<UploadSession, InvalidRequestError>
    /** Of several at the same time one joins the parts, and all get its answer. */
    complete(
      request: UploadComplete,
      key: ApiKeyId
    ): Effect.Effect<CompletedUpload, FileNotFoundError | InvalidRequestError>
    get(uuid: UploadId, key: ApiKeyId): Effect.Effect<Upload, FileNotFoundError>
    /** Fresh addresses for parts. */
    renewParts(
      uuid: UploadId,
      partNumbers: ReadonlyArray<number>,
      key: ApiKeyId
    ): Effect.Effect<ReadonlyArray<PartUrl>, FileNotFoundError | InvalidRequestError>
    abort(uuid: UploadId, key: ApiKeyId): Effect.Effect<UploadId, FileNotFoundError | InvalidRequestError>
    /** Whether the storage answers. */
    readonly storage: Effect.Effect<void, StorageUnavailableError>
  }
>()("waypost/services/Uploads") {
  static readonly layer = Layer.effect(
    Uploads,
    Effect.gen(function* () {
      const { UPLOAD_BLOCKED_TYPES: blocked, UPLOAD_MAX_BYTES: largest } = yield* Settings
      const repository = yield* Repository
      const files = yield* Files
      const storage = yield* Storage
      const completion = yield* UploadCompletion.make

      const urlsOf = (upload: MultipartUpload, maxSize: number, partNumbers: ReadonlyArray<number>) =>
        Effect.forEach(
          partNumbers,
          (partNumber) =>
            Effect.map(
              storage.partUrl(upload, { partNumber, maxSize, expiresInSeconds: partUrlSeconds }),
              (url): PartUrl => ({ partNumber, url })
            ),
          { concurrency: 16 }
        )

      const initialize = Effect.fn("Uploads.initialize")(function* (init: UploadInit, key: ApiKeyId) {
        const { fileName, fileSize } = init
        const byName = mime.lookup(fileName) || "application/octet-stream"
        const contentType = (init.contentType ?? byName).split(";")[0]!.trim().toLowerCase()
        const refused = [contentType, byName].find((type) => isBlocked(type, blocked))
        if (refused !== undefined) {
          return yield* uploadError(
            init.contentType && refused === contentType ? "contentType" : "fileName",
            "notAllowed",
            `Files of the type ${refused} are not accepted`
          )
        }
        if (fileSize > largest)
          return yield* uploadError("fileSize", "tooLarge", `A file has at most ${largest} bytes here`)
        const partSize = partSizeOf(fileSize)
        const uuid = UploadId.make(SecureRandom.uuidV7Unsafe())
        const fileUuid = FileId.make(SecureRandom.uuidV7Unsafe())
        const numberOfParts = Math.ceil(fileSize / partSize)
        const sha256 = init.sha256 ?? undefined
        const begun = yield* repository.begin(
          { uuid, apiKeyUuid: key, fileUuid, fileName, fileSize, contentType, sha256, partSize, numberOfParts },
          largest
        )
        if (Option.isNone(begun)) return yield* tooManyOpen(largest)
        const upload = yield* storage.begin(storageKey(fileUuid), contentType).pipe(
          Effect.tapError(() => repository.discard(uuid)),
          Effect.orDie
        )
        yield* repository.started(uuid, upload.id)
        const parts = yield* Effect.orDie(urlsOf(upload, fileSize, numbersTo(numberOfParts)))
        const duplicate = sha256 === undefined ? Option.none() : yield* files.findDuplicate(sha256, fileSize)
        return {
          uuid,
          numberOfParts,
          parts,
          partSize,
          expiresAt: DateTime.makeUnsafe(begun.value.expiresAt),
          requiredHeaders: {},
          ...(Option.isSome(duplicate) ? { duplicateOf: duplicate.value } : {})
        }
      })

      /** The upload, if this key may know of it. */
      const mine = Effect.fnUntraced(function* (uuid: UploadId, key: ApiKeyId) {
        return yield* Effect.fromOption(yield* repository.find(uuid, key), () => FileNotFoundError.of(uuid))
      })

      /** The upload as the storage knows it, if it could still go on when it was read. */
      const storedOf = (upload: StoredUpload) =>
        upload.status === "open" && upload.storageId !== undefined
          ? Effect.succeed(inStorage(upload, upload.storageId))
          : Effect.fail(FileNotFoundError.of(upload.uuid))

      const complete = Effect.fn("Uploads.complete")(function* ({ parts, uuid }: UploadComplete, key: ApiKeyId) {
        for (;;) {
          const upload = yield* mine(uuid, key)
          if (upload.status === "completed")
            return { fileUuid: upload.fileUuid, url: yield* files.url(upload.fileUuid) }
          const stored = yield* storedOf(upload)
          if (yield* repository.claim(uuid)) {
            const renew = Effect.forever(Effect.delay(repository.renew(uuid), `${claimSeconds / 3} seconds`))
            yield* completion(upload, stored, parts).pipe(
              Effect.raceFirst(renew),
              // Last, or a renewal that is under way could bring back the claim.
              Effect.ensuring(repository.release(uuid)),
              Effect.catchTag("StorageUnavailableError", Effect.die)
            )
          } else {
            yield* Effect.sleep("200 millis")
          }
        }
      })

      const get = Effect.fn("Uploads.get")(function* (uuid: UploadId, key: ApiKeyId) {
        const { fileUuid, ...upload } = yield* mine(uuid, key)
        const { contentType: _type, expiresAt, sha256: _hash, storageId, ...shown } = upload
        const parts =
          upload.status === "open" && storageId !== undefined
            ? yield* Effect.orDie(storage.parts(inStorage({ fileUuid }, storageId)))
            : []
        return {
          ...shown,
          parts,
          expiresAt: DateTime.makeUnsafe(expiresAt),
          ...(upload.status === "completed" ? { fileUuid } : {})
        }
      })

      const renewParts = Effect.fn("Uploads.renewParts")(function* (
        uuid: UploadId,
        partNumbers: ReadonlyArray<number>,
        key: ApiKeyId
      ) {
        const upload = yield* mine(uuid, key)
        const { fileSize, numberOfParts } = upload
        const stored = yield* storedOf(upload)
        const wrong = partNumbers.findIndex((number) => number > numberOfParts)
        if (wrong !== -1)
          return yield* uploadError(`partNumbers.${wrong}`, "outOfRange", `This upload has ${numberOfParts} parts`)
        return yield* Effect.orDie(urlsOf(stored, fileSize, [...new Set(partNumbers)]))
      })

      const abort = Effect.fn("Uploads.abort")(function* (uuid: UploadId, key: ApiKeyId) {
        const upload = yield* mine(uuid, key)
        if (upload.status === "completed") return yield* alreadyCompleted
        // A session whose beginning was cut off has nothing in the storage, and still takes a place.
        const unstarted = upload.status === "open" && upload.storageId === undefined
        if (unstarted && (yield* repository.end(uuid, "aborted"))) return uuid
        const stored = yield* storedOf(upload)
        if (!(yield* repository.end(uuid, "aborted"))) return yield* beingCompleted
        yield* Effect.orDie(storage.abort(stored))
        // A completion that a crash cut off may have joined the parts.
        yield* Effect.orDie(storage.remove(stored.key))
        return uuid
      })

      return Uploads.of({ initialize, complete, get, renewParts, abort, storage: storage.check })
    })
  )
}

const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** An upload, as the storage knows it. */
export const inStorage = ({ fileUuid }: Pick<StoredUpload, "fileUuid">, id: string): MultipartUpload => ({
  key: storageKey(fileUuid),
  id
})

const tooManyOpen = (largest: number) =>
  uploadError(
    "",
    "tooManyOpen",
    `This key may have ${openUploads.count} uploads open, of ${openUploads.largestFiles * largest} bytes together; complete or abort some first`
  )

const notAbortable = (code: string, message: string) =>
  InvalidRequestError.of([{ in: "path", path: "uuid", code, message }])
const alreadyCompleted = notAbortable("completed", "This upload is completed; its file can no longer be aborted")
const beingCompleted = notAbortable("completing", "This upload is being completed right now")
