import { Clock, Context, Effect, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { access } from "node:fs/promises"
import { append, attempt, orOn, publish, temporaryFile } from "./Durable.ts"
import { type FileLayout, uploadFolder } from "./FileLayout.ts"
import * as PartFiles from "./PartFiles.ts"
import { isPartNumber } from "./PartList.ts"
import * as PartUrl from "./PartUrl.ts"
import type { StorageUnavailableError } from "./Storage.ts"

/** The address of a part was changed, was not made here, or its time has passed. */
export class PartUrlRefusedError extends Schema.TaggedError<PartUrlRefusedError>()(
  "PartUrlRefusedError",
  { message: Schema.String },
  { httpApiStatus: 403 }
) {}

/** A part has more bytes than its address allows; `maxSize` in bytes. */
export class PartTooLargeError extends Schema.TaggedError<PartTooLargeError>()(
  "PartTooLargeError",
  { message: Schema.String, maxSize: Schema.Int },
  { httpApiStatus: 413 }
) {}

/** The upload a part is for was completed or aborted, or never was. */
export class UploadGoneError extends Schema.TaggedError<UploadGoneError>()(
  "UploadGoneError",
  { message: Schema.String },
  { httpApiStatus: 404 }
) {}

/** Takes the parts of uploads to the file storage; with S3 the store does this itself. */
export class FileParts extends Context.Service<
  FileParts,
  {
    /** What the address of a part allows; `url` is the path and query of the request, as they were sent. */
    verify(url: string): Effect.Effect<PartUrl.PartGrant, PartUrlRefusedError>
    /** Keeps a part, durably, and tells its entity tag (the MD5 in hex, without quotes); or keeps nothing of it. */
    receive<E>(
      grant: PartUrl.PartGrant,
      bytes: Stream.Stream<Uint8Array, E>
    ): Effect.Effect<{ readonly eTag: string }, E | StorageUnavailableError | PartTooLargeError | UploadGoneError>
  }
>()("waypost/storage/FileParts") {}

/** Takes parts to the folders of their uploads. */
export const make = (layout: FileLayout, secret: PartUrl.Secret): FileParts["Service"] => {
  const verify = Effect.fn("FileParts.verify")(function* (url: string) {
    const opened = PartUrl.opened(secret, url)
    if (opened === undefined) return yield* changed
    if (opened.expires * 1000 <= (yield* Clock.currentTimeMillis)) return yield* expired
    return opened.grant
  })

  /** The bytes of parts on their way in, by upload; those that have arrived are files. */
  const arriving = new Map<string, number>()

  const receive = Effect.fnUntraced(function* <E>(
    { maxSize, partNumber, uploadId }: PartUrl.PartGrant,
    bytes: Stream.Stream<Uint8Array, E>
  ) {
    const folder = uploadFolder(layout, uploadId)
    if (folder === undefined || !isPartNumber(partNumber)) return yield* gone
    yield* attempt(() => access(folder)).pipe(orOn("ENOENT", () => Effect.fail(gone)))
    const allowed = 2 * maxSize - (yield* bytesOfOthers(folder, partNumber))
    const file = yield* temporaryFile(layout.temporary)
    const md5 = createHash("md5")
    let size = 0
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        const left = (arriving.get(uploadId) ?? 0) - size
        if (left > 0) arriving.set(uploadId, left)
        else arriving.delete(uploadId)
      })
    )
    yield* Stream.runForEach(bytes, (chunk): Effect.Effect<void, StorageUnavailableError | PartTooLargeError> => {
      size += chunk.length
      const together = (arriving.get(uploadId) ?? 0) + chunk.length
      arriving.set(uploadId, together)
      if (size > maxSize || together > allowed) return Effect.fail(tooLarge(maxSize))
      md5.update(chunk)
      return append(file, chunk)
    })
    const eTag = md5.digest("hex")
    // An abort takes the folder away in one step, so a part that comes late has nowhere to go.
    yield* publish(file, PartFiles.newPartFile(folder, { partNumber, eTag })).pipe(
      orOn("ENOENT", () => Effect.fail(gone))
    )
    yield* PartFiles.removeReplaced(folder, partNumber)
    return { eTag }
  })

  return FileParts.of({
    verify,
    receive: (grant, bytes) => Effect.scoped(receive(grant, bytes)).pipe(Effect.withSpan("FileParts.receive"))
  })
}

/**
 * The bytes of the other parts. Together they may be twice the file, because a client may begin again and cut it in another
 * way; every part as large as the file would let one upload fill the disk.
 */
const bytesOfOthers = (folder: string, partNumber: number) =>
  Effect.map(PartFiles.list(folder), (parts) =>
    parts.reduce((sum, part) => (part.partNumber === partNumber ? sum : sum + part.size), 0)
  )

const changed = new PartUrlRefusedError({
  message: "The signature does not belong to this address; use an address of a part as the upload's answer shows it"
})
const expired = new PartUrlRefusedError({ message: "The address of the part has expired; ask for a fresh one" })
const gone = new UploadGoneError({ message: "There is no such upload (any more); begin a new one" })
const tooLarge = (maxSize: number) =>
  new PartTooLargeError({
    message: `A part may have at most ${maxSize} bytes, and all parts of the upload twice as many`,
    maxSize
  })
