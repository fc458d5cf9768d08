import { Context, Effect, Layer, Option, Stream } from "effect"
import { FileId, FileNotFoundError, stemOf, storageKey } from "../domain/assets/File.ts"
import type { InvalidAddressError } from "../domain/write/RequestErrors.ts"
import * as Sniff from "../media/Sniff.ts"
import { Files, type StoredFile } from "../repositories/assets/Files.ts"
import { type Range, Storage, StorageUnavailableError } from "../storage/Storage.ts"
import { SignedUrls } from "./SignedUrls.ts"
import { type Thumbnail, Thumbnails, type Wait } from "./Thumbnails.ts"

/** The members of a signed file URL. */
export interface Address {
  readonly uuid: string
  readonly name: string
  readonly expires: string
  readonly signature: string
}

/** The original of a file, or a thumbnail of it. */
export interface Download {
  readonly fileName: string
  readonly mimeType: string
  /** Bytes. */
  readonly size: number
  readonly eTag: string
  /** Whether a browser may show it: an image or a PDF by its bytes, not by its declared type. */
  readonly isInline: boolean
  /** Whether the bytes never change. */
  readonly isFinal: boolean
  /** Whether it is a thumbnail or preview, whose format is the one that the client accepts. */
  readonly isThumbnail: boolean
  readonly read: (range?: Range) => Stream.Stream<Uint8Array, StorageUnavailableError>
}

/** Opens files for download. */
export class Downloads extends Context.Service<
  Downloads,
  {
    /** The file of a signed URL; a thumbnail is WebP if the client accepts it. `wait` surrounds the wait for one. */
    open(
      address: Address,
      acceptsWebp: boolean,
      wait: Wait
    ): Effect.Effect<Download, InvalidAddressError | FileNotFoundError | StorageUnavailableError>
  }
>()("waypost/services/Downloads") {
  static readonly layer = Layer.effect(
    Downloads,
    Effect.gen(function* () {
      const signedUrls = yield* SignedUrls
      const files = yield* Files
      const thumbnails = yield* Thumbnails
      const storage = yield* Storage

      const original = (file: StoredFile): Download => ({
        fileName: file.fileName,
        mimeType: file.mimeType,
        size: file.size,
        eTag: file.sha256.slice(0, 32),
        isInline: Sniff.isInline(file.mimeType),
        isFinal: true,
        isThumbnail: false,
        read: (range) => storage.read(storageKey(file.uuid), range)
      })

      const thumbnail = (
        file: StoredFile,
        size: string,
        { isFinal, mimeType, source, ...rest }: Thumbnail
      ): Download => ({
        fileName: `${size}_${stemOf(file.fileName)}${mimeType === "image/webp" ? ".webp" : ".jpg"}`,
        mimeType,
        size: rest.size,
        eTag: `${file.sha256.slice(0, 32)}-${size}-${mimeType.slice("image/".length)}${"bytes" in source ? "-icon" : ""}`,
        isInline: true,
        isFinal,
        isThumbnail: true,
        read: (range) =>
          "key" in source
            ? storage.read(source.key, range)
            : Stream.succeed(source.bytes.subarray(range?.offset ?? 0, endOf(range)))
      })

      const open = Effect.fn("Downloads.open")(function* (address: Address, acceptsWebp: boolean, wait: Wait) {
        yield* signedUrls.verify(address)
        const file = yield* files.find(FileId.make(address.uuid))
        if (Option.isNone(file)) return yield* FileNotFoundError.of(address.uuid)
        const { pathName } = file.value
        const size = (["thumbnail", "preview"] as const).find((prefix) => address.name === `${prefix}_${pathName}`)
        if (size === undefined) {
          // Checked before the response begins: after that, an error can only break the connection.
          const stored = yield* storage.size(storageKey(file.value.uuid))
          return Option.isSome(stored) ? original(file.value) : yield* lost
        }
        const format = acceptsWebp ? "webp" : "jpeg"
        return thumbnail(file.value, size, yield* thumbnails.get(file.value, { size, format }, wait))
      })

      return Downloads.of({ open })
    })
  )
}

const lost = new StorageUnavailableError({ message: "The storage does not have the bytes of a file" })

const endOf = (range: Range | undefined) => (range?.length === undefined ? undefined : range.offset + range.length)
