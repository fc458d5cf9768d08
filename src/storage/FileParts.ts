import { Clock, Context, Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { access } from "node:fs/promises"
import { FileNotFoundError } from "../domain/assets/File.ts"
import { InvalidAddressError, PayloadTooLargeError } from "../domain/write/RequestErrors.ts"
import { append, attempt, flush, orOn, temporaryFile } from "./Durable.ts"
import { type FileLayout, uploadFolder } from "./FileLayout.ts"
import * as PartFiles from "./PartFiles.ts"
import { isPartNumber } from "./PartList.ts"
import * as PartUrl from "./PartUrl.ts"
import type { StorageUnavailableError } from "./Storage.ts"

/** Receives the parts of uploads for the file storage; S3 stores receive them themselves. */
export class FileParts extends Context.Service<
  FileParts,
  {
    /** The grant of a part URL; `url` is the path and query of the request, unchanged. */
    verify(url: string): Effect.Effect<PartUrl.PartGrant, InvalidAddressError>
    /** Stores a part durably and returns its entity tag (the MD5 in hex, without quotes), or stores none of it. */
    receive<E>(
      grant: PartUrl.PartGrant,
      bytes: Stream.Stream<Uint8Array, E>
    ): Effect.Effect<{ readonly eTag: string }, E | StorageUnavailableError | PayloadTooLargeError | FileNotFoundError>
  }
>()("waypost/storage/FileParts") {}

/** Stores parts in the folders of their uploads. */
export const make = (layout: FileLayout, secret: PartUrl.Secret): FileParts["Service"] => {
  const verify = Effect.fn("FileParts.verify")(function* (url: string) {
    const opened = PartUrl.opened(secret, url)
    if (opened === undefined) return yield* changed
    if (opened.expires * 1000 <= (yield* Clock.currentTimeMillis)) return yield* expired
    return opened.grant
  })

  /** The bytes of parts that are being received, by upload; received parts are files. */
  const arriving = new Map<string, number>()

  const receive = Effect.fnUntraced(function* <E>(
    { maxSize, partNumber, uploadId }: PartUrl.PartGrant,
    bytes: Stream.Stream<Uint8Array, E>
  ) {
    const folder = uploadFolder(layout, uploadId)
    if (folder === undefined || !isPartNumber(partNumber)) return yield* unknownPart
    const gone = () => Effect.fail(FileNotFoundError.of(uploadId))
    yield* attempt(() => access(folder)).pipe(orOn("ENOENT", gone))
    const left = Effect.map(PartFiles.bytesOfOthers(folder, partNumber), (others) => allowedOf(maxSize) - others)
    let allowed = yield* left
    let countedAt = 0
    const file = yield* temporaryFile(layout.temporary)
    const md5 = createHash("md5")
    let size = 0
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        const rest = (arriving.get(uploadId) ?? 0) - size
        if (rest > 0) arriving.set(uploadId, rest)
        else arriving.delete(uploadId)
      })
    )
    yield* Stream.runForEach(
      bytes,
      Effect.fnUntraced(function* (chunk) {
        size += chunk.length
        const together = (arriving.get(uploadId) ?? 0) + chunk.length
        arriving.set(uploadId, together)
        if (size - countedAt >= countEvery) {
          countedAt = size
          allowed = yield* left
        }
        if (size > maxSize || together > allowed) return yield* tooLarge(maxSize)
        md5.update(chunk)
        return yield* append(file, chunk)
      })
    )
    const eTag = md5.digest("hex")
    yield* flush(file.handle)
    const fits = Effect.flatMap(left, (allowed) => (size > allowed ? tooLarge(maxSize) : Effect.void))
    // An abort removes the folder in one step, so a late part has no folder.
    yield* PartFiles.publishIf(file.path, folder, { partNumber, eTag, size }, fits).pipe(orOn("ENOENT", gone))
    yield* PartFiles.removeReplaced(folder, partNumber)
    return { eTag }
  })

  return FileParts.of({
    verify,
    receive: (grant, bytes) => Effect.scoped(receive(grant, bytes)).pipe(Effect.withSpan("FileParts.receive"))
  })
}

/**
 * The bytes that all parts together may have. Twice those of the file, because a client may start again with another part
 * size; without this limit one upload could fill the disk.
 */
const allowedOf = (maxSize: number) => 2 * maxSize

/** How often a part that is being received counts the parts that have ended since, in bytes. */
const countEvery = 8 * 1024 * 1024

const changed = new InvalidAddressError({
  message: "The signature does not match this URL; use the URL of the part as the upload lists it"
})
const expired = new InvalidAddressError({ message: "The URL of the part has expired; renew it" })
const unknownPart = new FileNotFoundError({ message: "No upload has this part" })
const tooLarge = (maxSize: number) =>
  Effect.fail(
    new PayloadTooLargeError({
      message: `A part may have at most ${maxSize} bytes, and all parts of the upload together ${allowedOf(maxSize)}`
    })
  )
