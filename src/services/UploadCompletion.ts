import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { Settings } from "../settings/Config.ts"
import { extensionOf } from "../domain/assets/File.ts"
import { InvalidRequestError } from "../domain/write/RequestErrors.ts"
import type { UploadComplete } from "../domain/assets/Upload.ts"
import * as Sniff from "../media/Sniff.ts"
import { Files } from "../repositories/assets/Files.ts"
import { type StoredUpload, Uploads as Repository } from "../repositories/assets/Uploads.ts"
import { type MultipartUpload, Storage } from "../storage/Storage.ts"
import { isJoined } from "./StoredUploads.ts"
import { isBlocked, problemsOf, typeOf } from "./UploadRules.ts"

/**
 * Makes a file of an upload whose parts are all there: joins, hashes and inspects them, and then inserts the row. The
 * caller holds the claim on the upload; after a crash the completion may be repeated.
 */
export const make = Effect.gen(function* () {
  const { UPLOAD_BLOCKED_TYPES: blocked } = yield* Settings
  const repository = yield* Repository
  const files = yield* Files
  const storage = yield* Storage

  /** Hash and type of the bytes as they are stored. */
  const inspect = Effect.fnUntraced(function* (storedAt: string, size: number) {
    const hash = createHash("sha256")
    let head = Buffer.alloc(0)
    yield* Stream.runForEach(storage.read(storedAt), (chunk) =>
      Effect.sync(() => {
        hash.update(chunk)
        if (head.length < Sniff.headLength)
          head = Buffer.concat([head, chunk.subarray(0, Sniff.headLength - head.length)])
      })
    )
    return { sha256: hash.digest("hex"), sniffed: yield* Sniff.sniff(head, size) }
  })

  const join = Effect.fnUntraced(function* (
    upload: StoredUpload,
    stored: MultipartUpload,
    parts: UploadComplete["parts"]
  ) {
    const problems = problemsOf(parts, yield* storage.parts(stored), upload)
    if (problems.length > 0 && !(yield* isJoined(storage, upload, stored)))
      return yield* InvalidRequestError.of(problems)
    yield* storage
      .complete(
        stored,
        parts.toSorted((a, b) => a.partNumber - b.partNumber)
      )
      .pipe(
        Effect.catchTag("InvalidPartsError", ({ message }) =>
          Effect.fail(InvalidRequestError.inBody("parts", "mismatch", message))
        )
      )
  })

  /**
   * Removes bytes that are rejected, and fails. If the upload has ended, the claim was lost, and the bytes may be those of the file
   * that the request made which has claimed it since.
   */
  const discard = Effect.fnUntraced(function* (
    upload: StoredUpload,
    stored: MultipartUpload,
    error: InvalidRequestError
  ) {
    if (!(yield* repository.discard(upload.uuid))) return
    yield* storage.abort(stored)
    yield* storage.remove(stored.key)
    return yield* error
  })

  return Effect.fnUntraced(function* (upload: StoredUpload, stored: MultipartUpload, parts: UploadComplete["parts"]) {
    const { contentType, fileName, fileSize, fileUuid, sha256: declared, uuid } = upload
    yield* join(upload, stored, parts)
    const { sha256, sniffed } = yield* inspect(stored.key, fileSize)
    if (declared !== undefined && declared !== sha256) {
      const message = `The bytes have the SHA-256 ${sha256}, declared was ${declared}; begin the upload again`
      return yield* discard(upload, stored, InvalidRequestError.inBody("sha256", "mismatch", message))
    }
    const mimeType = typeOf(sniffed, contentType)
    // Also a container that keeps its declared type.
    const rejected = [mimeType, sniffed ?? mimeType].find((type) => isBlocked(type, blocked))
    if (rejected !== undefined) {
      const message = `The bytes are of the type ${rejected}, which is not accepted`
      return yield* discard(upload, stored, InvalidRequestError.inBody("parts", "notAllowed", message))
    }
    yield* files.insert(uuid, {
      uuid: fileUuid,
      fileName,
      extension: extensionOf(fileName),
      mimeType,
      size: fileSize,
      sha256
    })
    yield* storage
      .abort(stored)
      .pipe(Effect.catch((error) => Effect.logWarning("Parts of a completed upload are left to the sweeper", error)))
  })
})
