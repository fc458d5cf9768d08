import { Clock, Context, Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { access } from "node:fs/promises"
import { FileNotFoundError } from "../domain/assets/File.ts"
import { InvalidAddressError, PayloadTooLargeError } from "../domain/write/RequestErrors.ts"
import { append, attempt, orOn, publish, temporaryFile } from "./Durable.ts"
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
    yield* Stream.runForEach(bytes, (chunk): Effect.Effect<void, StorageUnavailableError | PayloadTooLargeError> => {
      size += chunk.length
      const together = (arriving.get(uploadId) ?? 0) + chunk.length
      arriving.set(uploadId, together)
      if (size > maxSize || together > allowed) return Effect.fail(tooLarge(maxSize))
      md5.update(chunk)
      return append(file, chunk)
    })
    const eTag = md5.digest("hex")
    // An abort removes the folder in one step, so a late part has no folder.
    yield* publish(file, PartFiles.newPartFile(folder, { partNumber, eTag })).pipe(orOn("ENOENT", gone))
    yield* PartFiles.removeReplaced(folder, partNumber)
    return { eTag }
  })

  return FileParts.of({
    verify,
    receive: (grant, bytes) => Effect.scoped(receive(grant, bytes)).pipe(Effect.withSpan("FileParts.receive"))
  })
}

/**
 * The bytes of the other parts. All parts together may have twice the bytes of the file, because a client may start again
 * with another part size; without this limit one upload could fill the disk.
 */
const bytesOfOthers = (folder: string, partNumber: number) =>
  Effect.map(PartFiles.list(folder), (parts) =>
    parts.reduce((sum, part) => (part.partNumber === partNumber ? sum : sum + part.size), 0)
  )

const changed = new InvalidAddressError({
  message: "The signature does not match this URL; use the URL of the part as the upload lists it"
})
const expired = new InvalidAddressError({ message: "The URL of the part has expired; renew it" })
const unknownPart = new FileNotFoundError({ message: "No upload has this part" })
const tooLarge = (maxSize: number) =>
  new PayloadTooLargeError({
    message: `A part may have at most ${maxSize} bytes, and all parts of the upload together twice as many`
  })
