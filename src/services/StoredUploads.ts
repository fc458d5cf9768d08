import { Effect, Option } from "effect"
import type { ApiKeyId } from "../domain/keys/ApiKey.ts"
import { FileNotFoundError, storageKey } from "../domain/assets/File.ts"
import { type PartUrl, partUrlSeconds, type UploadId } from "../domain/assets/Upload.ts"
import type { StoredUpload, Uploads as Repository } from "../repositories/assets/Uploads.ts"
import type { MultipartUpload, Storage } from "../storage/Storage.ts"

/** An upload, as the storage knows it. */
export const inStorage = ({ fileUuid }: Pick<StoredUpload, "fileUuid">, id: string): MultipartUpload => ({
  key: storageKey(fileUuid),
  id
})

/** Signed addresses of parts. */
export const partUrls =
  (storage: Storage["Service"]) => (upload: MultipartUpload, maxSize: number, partNumbers: ReadonlyArray<number>) =>
    Effect.forEach(
      partNumbers,
      (partNumber) =>
        Effect.map(
          storage.partUrl(upload, { partNumber, maxSize, expiresInSeconds: partUrlSeconds }),
          (url): PartUrl => ({ partNumber, url })
        ),
      { concurrency: 16 }
    )

/** Whether the file is stored whole. */
const isWhole = (storage: Storage["Service"], fileSize: number, { key }: MultipartUpload) =>
  Effect.map(storage.size(key), Option.contains(fileSize))

/** Whether an earlier completion, which a crash or its client ended, has joined the parts: then none is left to compare. */
export const isJoined = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { fileSize }: Pick<StoredUpload, "fileSize">,
  stored: MultipartUpload
) {
  return (yield* isWhole(storage, fileSize, stored)) && (yield* storage.parts(stored)).length === 0
})

/**
 * The parts that have arrived. Parts that are joined no longer exist and cannot be sent again, so all of them are listed:
 * the client then completes the upload, which compares no entity tags.
 */
export const arrivedParts = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  upload: Pick<StoredUpload, "fileSize" | "numberOfParts" | "partSize">,
  stored: MultipartUpload
) {
  const { fileSize, numberOfParts, partSize } = upload
  const parts = yield* storage.parts(stored)
  if (parts.length > 0 || !(yield* isWhole(storage, fileSize, stored))) return parts
  return Array.from({ length: numberOfParts }, (_, index) => ({
    partNumber: index + 1,
    size: Math.min(partSize, fileSize - index * partSize),
    eTag: "joined"
  }))
})

/** Reads uploads. */
export const lookups = (repository: Repository["Service"]) => ({
  /** The upload, if this key may read it. */
  mine: Effect.fnUntraced(function* (uuid: UploadId, key: ApiKeyId) {
    return yield* Effect.fromOption(yield* repository.find(uuid, key), () => FileNotFoundError.of(uuid))
  }),
  /** The upload as the storage knows it, if it was open when it was read. */
  storedOf: (upload: StoredUpload) =>
    upload.status === "open" && upload.storageId !== undefined
      ? Effect.succeed(inStorage(upload, upload.storageId))
      : Effect.fail(FileNotFoundError.of(upload.uuid))
})
