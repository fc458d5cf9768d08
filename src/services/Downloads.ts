import { Context, Effect, Layer, Option, Stream } from "effect"
import { FileId, FileNotFoundError, stemOf, storageKey } from "../domain/assets/File.ts"
import type { InvalidAddressError } from "../domain/write/RequestErrors.ts"
import * as Sniff from "../media/Sniff.ts"
import { Files, type StoredFile } from "../repositories/assets/Files.ts"
import { type Range, Storage, StorageUnavailableError } from "../storage/Storage.ts"
import { SignedUrls } from "./SignedUrls.ts"
import { type Thumbnail, Thumbnails } from "./Thumbnails.ts"

/** The address of a file as it was asked for. */
export interface Address {
  readonly uuid: string
  readonly name: string
  readonly expires: string
  readonly signature: string
}

/** Something to send: an original or a picture of it. */
export interface Download {
  readonly fileName: string
  readonly mimeType: string
  /** Bytes. */
  readonly size: number
  readonly eTag: string
  /** Whether a browser may show it: a picture or a PDF by its bytes, whatever it was said to be. */
  readonly isInline: boolean
  /** Whether these bytes will always be the answer. */
  readonly isFinal: boolean
  readonly read: (range?: Range) => Stream.Stream<Uint8Array, StorageUnavailableError>
}

/** Files on their way out. */
export class Downloads extends Context.Service<
  Downloads,
  {
    /** What an address stands for, as WebP where the client takes it. */
    open(
      address: Address,
      acceptsWebp: boolean
    ): Effect.Effect<Download, InvalidAddressError | FileNotFoundError | StorageUnavailableError>
  }
>()("waypost/services/Downloads") {
  static readonly layer = Layer.effect(
    Downloads,
    Effect.gen(function* () {
      const addresses = yield* SignedUrls
      const files = yield* Files
      const pictures = yield* Thumbnails
      const storage = yield* Storage

      const original = (file: StoredFile): Download => ({
        fileName: file.fileName,
        mimeType: file.mimeType,
        size: file.size,
        eTag: file.sha256.slice(0, 32),
        isInline: Sniff.isInline(file.mimeType),
        isFinal: true,
        read: (range) => storage.read(storageKey(file.uuid), range)
      })

      const picture = (
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
        read: (range) =>
          "key" in source
            ? storage.read(source.key, range)
            : Stream.succeed(source.bytes.subarray(range?.offset ?? 0, endOf(range)))
      })

      const open = Effect.fn("Downloads.open")(function* (address: Address, acceptsWebp: boolean) {
        yield* addresses.verify(address)
        const file = yield* files.find(FileId.make(address.uuid))
        if (Option.isNone(file)) return yield* FileNotFoundError.of(address.uuid)
        const { pathName } = file.value
        const size = (["thumbnail", "preview"] as const).find((prefix) => address.name === `${prefix}_${pathName}`)
        if (size === undefined) {
          // Told before the answer begins: once it has, a connection that breaks is all that is left to say.
          const there = yield* storage.size(storageKey(file.value.uuid))
          return Option.isSome(there) ? original(file.value) : yield* lost
        }
        const format = acceptsWebp ? "webp" : "jpeg"
        return picture(file.value, size, yield* pictures.get(file.value, { size, format }))
      })

      return Downloads.of({ open })
    })
  )
}

const lost = new StorageUnavailableError({ message: "The bytes of a file are not where they should be" })

const endOf = (range: Range | undefined) => (range?.length === undefined ? undefined : range.offset + range.length)
