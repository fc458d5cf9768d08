import { Context, DateTime, Effect, Layer } from "effect"
import type { ApiKeyId, CallingKey } from "../domain/keys/ApiKey.ts"
import { type FileId, FileNotFoundError } from "../domain/assets/File.ts"
import * as Written from "../domain/write/Written.ts"
import { InvalidRequestError } from "../domain/write/RequestErrors.ts"
import type {
  CompletedUpload,
  PartUrl,
  Upload,
  UploadComplete,
  UploadId,
  UploadInit,
  UploadSession
} from "../domain/assets/Upload.ts"
import { Uploads as Repository } from "../repositories/assets/Uploads.ts"
import { Storage, type StorageUnavailableError } from "../storage/Storage.ts"
import * as UploadBeginning from "./UploadBeginning.ts"
import * as UploadClaims from "./UploadClaims.ts"
import { arrivedParts, inStorage, lookups, partUrls } from "./StoredUploads.ts"

type WrittenUpload<Answer> = Written.WrittenWith<"uploads", UploadId, Answer>

/**
 * Multipart uploads: the client begins one, sends the parts straight to the storage, and completes it into a file. The
 * bytes are stored first and the row after them, so that every file row has its bytes; the sweeper removes bytes that a
 * crash leaves without a row.
 */
export class Uploads extends Context.Service<
  Uploads,
  {
    initialize(init: UploadInit, key: CallingKey): Effect.Effect<WrittenUpload<UploadSession>, InvalidRequestError>
    /** Of several concurrent calls one joins the parts, and all get the same answer. */
    complete(
      request: UploadComplete,
      key: ApiKeyId
    ): Effect.Effect<Written.WrittenWith<"files", FileId, CompletedUpload>, FileNotFoundError | InvalidRequestError>
    get(uuid: UploadId, key: ApiKeyId): Effect.Effect<Upload, FileNotFoundError>
    /** Fresh addresses for parts. */
    renewParts(
      uuid: UploadId,
      partNumbers: ReadonlyArray<number>,
      key: ApiKeyId
    ): Effect.Effect<WrittenUpload<{ readonly parts: ReadonlyArray<PartUrl> }>, FileNotFoundError | InvalidRequestError>
    /** Ends an upload; of one that was aborted before it removes the parts that arrived since. */
    abort(
      uuid: UploadId,
      key: ApiKeyId
    ): Effect.Effect<Written.Written<"uploads", UploadId>, FileNotFoundError | InvalidRequestError>
    /** The origin of the addresses of parts, which a page that uploads has to allow. */
    readonly partOrigin: Effect.Effect<string, StorageUnavailableError>
    /** Whether the storage answers. */
    readonly storage: Effect.Effect<void, StorageUnavailableError>
  }
>()("waypost/services/Uploads") {
  static readonly layer = Layer.effect(
    Uploads,
    Effect.gen(function* () {
      const repository = yield* Repository
      const storage = yield* Storage
      const urlsOf = partUrls(storage)
      const { mine, storedOf } = lookups(repository)

      const get = Effect.fn("Uploads.get")(function* (uuid: UploadId, key: ApiKeyId) {
        const { fileUuid, ...upload } = yield* mine(uuid, key)
        const { contentType: _type, expiresAt, sha256: _hash, storageId, ...shown } = upload
        const parts =
          upload.status === "open" && storageId !== undefined
            ? yield* Effect.orDie(arrivedParts(storage, upload, inStorage({ fileUuid }, storageId)))
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
          return yield* InvalidRequestError.inBody(
            `partNumbers.${wrong}`,
            "outOfRange",
            `This upload has ${numberOfParts} parts`
          )
        const parts = yield* Effect.orDie(urlsOf(stored, fileSize, [...new Set(partNumbers)]))
        return { ...Written.updated("uploads", uuid, false), answer: { parts } }
      })

      const abort = Effect.fn("Uploads.abort")(function* (uuid: UploadId, key: ApiKeyId) {
        const upload = yield* mine(uuid, key)
        const isEnded = upload.status === "open" && (yield* repository.end(uuid, "aborted"))
        // Another request may have ended it, such as an earlier attempt whose answer is lost.
        const status = isEnded ? "aborted" : (yield* mine(uuid, key)).status
        if (status === "completed") return yield* alreadyCompleted
        if (status === "open") return yield* beingCompleted
        if (status === "expired") return yield* FileNotFoundError.of(uuid)
        // A session whose beginning was interrupted has nothing in the storage.
        if (upload.storageId !== undefined) {
          const stored = inStorage(upload, upload.storageId)
          // Also when it was aborted before: more parts may have arrived.
          yield* Effect.orDie(storage.abort(stored))
          // A completion that was interrupted by a crash may have joined the parts.
          yield* Effect.orDie(storage.remove(stored.key))
        }
        return Written.deleted("uploads", uuid, isEnded)
      })

      return Uploads.of({
        initialize: yield* UploadBeginning.make,
        complete: yield* UploadClaims.make,
        get,
        renewParts,
        abort,
        partOrigin: storage.partOrigin,
        storage: storage.check
      })
    })
  )
}

const notAbortable = (code: string, message: string) => InvalidRequestError.at("path", "uuid", code, message)
const alreadyCompleted = notAbortable("completed", "This upload is completed; its file can no longer be aborted")
const beingCompleted = notAbortable("completing", "This upload is being completed right now")
