import { Effect } from "effect"
import { attempt, openFile } from "./Durable.ts"
import { type Bucket, notUnderstood } from "./S3Client.ts"
import { type Storage, StorageUnavailableError } from "./Storage.ts"

/** The smallest part S3 takes: each has only so long, and a slow line has to manage. Bytes. */
const smallestPart = 5 * 1024 ** 2
const mostParts = 10_000

type Parts = Pick<Storage["Service"], "begin" | "complete" | "abort">

/** Sends files of this machine, those that are larger than a part in parts. */
export const writer = (bucket: Bucket, write: Storage["Service"]["write"], uploads: Parts) =>
  Effect.fn("S3Storage.writeFile")(function* (key: string, path: string, contentType: string) {
    const { at, Bucket, call } = bucket
    const file = yield* openFile(path)
    const { size } = yield* attempt(() => file.stat())
    const partSize = Math.max(smallestPart, Math.ceil(size / mostParts))
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
      // The parts are those that were just sent: the store has lost one.
      Effect.catchTag("InvalidPartsError", ({ message }) => Effect.fail(new StorageUnavailableError({ message }))),
      Effect.onError(() => Effect.ignore(uploads.abort(upload)))
    )
  }, Effect.scoped)

const cutShort = new StorageUnavailableError({ message: "A file became shorter while it was read" })
