import { Effect } from "effect"
import { maxParts } from "../domain/assets/Upload.ts"
import { attempt, openFile } from "./Durable.ts"
import { type Bucket, notUnderstood } from "./S3Client.ts"
import { type Storage, StorageUnavailableError } from "./Storage.ts"

/** The minimum of S3, because each part has a time limit and bandwidth may be low. Bytes. */
const minPartSize = 5 * 1024 ** 2

type Parts = Pick<Storage["Service"], "begin" | "complete" | "abort">

/** Writes files of this machine; those that are larger than a part, in parts. */
export const writer = (bucket: Bucket, write: Storage["Service"]["write"], uploads: Parts) =>
  Effect.fn("S3Storage.writeFile")(function* (key: string, path: string, contentType: string) {
    const { at, Bucket, call } = bucket
    const file = yield* openFile(path)
    const { size } = yield* attempt(() => file.stat())
    const partSize = Math.max(minPartSize, Math.ceil(size / maxParts))
    const part = Effect.fnUntraced(function* (offset: number) {
      const length = Math.min(partSize, size - offset)
      const { buffer, bytesRead } = yield* attempt(() => file.read(Buffer.alloc(length), 0, length, offset))
      return bytesRead === length ? buffer : yield* cutShort
    })
    if (size <= partSize) return yield* write(key, yield* part(0), contentType)

    const upload = yield* uploads.begin(key, contentType)
    const sent = Effect.forEach(
      Array.from({ length: Math.ceil(size / partSize) }, (_, index) => index),
      Effect.fnUntraced(function* (index) {
        const body = yield* part(index * partSize)
        const object = { Bucket, Key: at(key), UploadId: upload.id, PartNumber: index + 1 }
        const { ETag } = yield* call((s3, options) => s3.uploadPart({ ...object, Body: body }, options))
        return ETag === undefined ? yield* notUnderstood : { partNumber: index + 1, eTag: ETag.replaceAll('"', "") }
      })
    )
    yield* sent.pipe(
      Effect.flatMap((parts) => uploads.complete(upload, parts)),
      // All parts were just sent, so the store has lost one.
      Effect.catchTag("InvalidPartsError", ({ message }) => Effect.fail(new StorageUnavailableError({ message }))),
      Effect.onError(() => Effect.ignore(uploads.abort(upload)))
    )
  }, Effect.scoped)

const cutShort = new StorageUnavailableError({ message: "A file was truncated while it was read" })
