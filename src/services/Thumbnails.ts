import { Context, Effect, Fiber, FiberMap, Layer, Option, Result, Semaphore } from "effect"
import { storageKey } from "../domain/assets/File.ts"
import { ServiceUnavailableError } from "../domain/write/RequestErrors.ts"
import { format as formatOf } from "../media/Formats.ts"
import { Renderer, type NotRenderableError, type RenderFailedError, type Wanted } from "../media/Renderer.ts"
import { Files, type StoredFile } from "../repositories/assets/Files.ts"
import { Storage, type StorageUnavailableError } from "../storage/Storage.ts"

/** Larger files are not taken apart for a picture; a video only gives one frame and may be longer. Bytes. */
const largest = { video: 4 * 1024 ** 3, other: 512 * 1024 ** 2 } as const

/** A picture of a file: an object of the storage, or the bytes of an icon. */
export interface Thumbnail {
  readonly mimeType: string
  readonly size: number
  readonly source: { readonly key: string } | { readonly bytes: Uint8Array }
  /** Whether it will never be another one. */
  readonly isFinal: boolean
}

export const mimeTypes = { webp: "image/webp", jpeg: "image/jpeg" } as const

const extensions = { webp: ".webp", jpeg: ".jpg" } as const

/** Where a picture of a file is kept. */
const thumbnailKey = (uuid: string, { format, size }: Wanted) => `${storageKey(uuid, `${size}_`)}${extensions[format]}`

const sizes: ReadonlyArray<Wanted["size"]> = ["thumbnail", "preview"]
const formats: ReadonlyArray<Wanted["format"]> = ["webp", "jpeg"]

/** Everywhere a picture of a file can be. */
export const thumbnailKeys = (uuid: string): ReadonlyArray<string> =>
  sizes.flatMap((size) => formats.map((format) => thumbnailKey(uuid, { format, size })))

/** What every file gets ahead of the first request. */
const usual: ReadonlyArray<Wanted> = sizes.map((size) => ({ size, format: "webp" }))

type Failed = NotRenderableError | RenderFailedError | StorageUnavailableError

const noPicture = new ServiceUnavailableError({ message: "The picture cannot be made right now; try again" })

/** The pictures that stand for files: made once, kept in the storage, and an icon where there can be none. */
export class Thumbnails extends Context.Service<
  Thumbnails,
  {
    /** The picture of a file; made now if it has not been. */
    get(file: StoredFile, wanted: Wanted): Effect.Effect<Thumbnail, StorageUnavailableError>
    /** Makes the usual pictures of a file; fails when trying again later may help. */
    make(file: StoredFile): Effect.Effect<void, RenderFailedError | StorageUnavailableError>
    /** Gives a file up. */
    giveUp(file: StoredFile): Effect.Effect<void>
  }
>()("waypost/services/Thumbnails") {
  static readonly layer = Layer.effect(
    Thumbnails,
    Effect.gen(function* () {
      const renderer = yield* Renderer
      const files = yield* Files
      const storage = yield* Storage
      const renders = yield* FiberMap.make<string, void, Failed>()
      // The renderer takes one file at a time; with a store elsewhere, no more than the next one waits as a copy.
      const few = yield* Semaphore.make(2)

      const icon = Effect.fnUntraced(function* (file: StoredFile, wanted: Wanted, isFinal: boolean) {
        const bytes = yield* Effect.catch(renderer.icon(file, wanted), () => Effect.die(noPicture))
        return {
          mimeType: mimeTypes[wanted.format],
          size: bytes.length,
          source: { bytes },
          isFinal
        } satisfies Thumbnail
      })

      const stored = Effect.fnUntraced(function* (file: StoredFile, wanted: Wanted) {
        const key = thumbnailKey(file.uuid, wanted)
        return Option.map(yield* storage.size(key), (size): Thumbnail => ({
          mimeType: mimeTypes[wanted.format],
          size,
          source: { key },
          isFinal: true
        }))
      })

      const isDrawable = ({ mimeType, size }: StoredFile) =>
        formatOf(mimeType) !== undefined && size <= (mimeType.startsWith("video/") ? largest.video : largest.other)

      const render = Effect.fnUntraced(function* (file: StoredFile, wanted: ReadonlyArray<Wanted>) {
        const path = yield* storage.localFile(storageKey(file.uuid))
        const { images, ...facts } = yield* renderer.render({ path, mimeType: file.mimeType }, wanted)
        yield* Effect.forEach(wanted, (picture, index) =>
          storage.write(thumbnailKey(file.uuid, picture), images[index]!, mimeTypes[picture.format])
        )
        if (file.processing === "pending") yield* files.rendered(file.uuid, { ...facts, processing: "ready" })
      }, Effect.scoped)

      /** A file that can never be drawn is not tried again. */
      const renderOnce = (file: StoredFile, wanted: ReadonlyArray<Wanted>): Effect.Effect<void, Failed> =>
        Effect.tapError(few.withPermit(render(file, wanted)), (error) =>
          error._tag === "NotRenderableError" ? files.rendered(file.uuid, { processing: "failed" }) : Effect.void
        )

      /** Once for all who ask at the same time, and to its end: an interruption would cost the renderer its process. */
      const shared = (file: StoredFile, wanted: ReadonlyArray<Wanted>): Effect.Effect<void, Failed> =>
        Effect.suspend(() => {
          const name = [file.uuid, ...wanted.map(({ format, size }) => `${size} ${format}`)].join()
          return Option.match(FiberMap.getUnsafe(renders, name), {
            onNone: () => Effect.flatMap(FiberMap.run(renders, name, renderOnce(file, wanted)), Fiber.join),
            onSome: Fiber.join
          })
        })

      const get = Effect.fn("Pictures.get")(function* (file: StoredFile, wanted: Wanted) {
        if (!isDrawable(file) || file.processing === "failed") return yield* icon(file, wanted, true)
        const found = yield* stored(file, wanted)
        if (Option.isSome(found)) return found.value
        const pictures = usual.some((picture) => picture.format === wanted.format) ? usual : [...usual, wanted]
        const made = yield* shared(file, file.processing === "ready" ? [wanted] : pictures).pipe(
          Effect.andThen(stored(file, wanted)),
          Effect.result
        )
        if (Result.isSuccess(made) && Option.isSome(made.success)) return made.success.value
        if (Result.isFailure(made) && made.failure._tag === "StorageUnavailableError") return yield* made.failure
        return yield* icon(file, wanted, Result.isFailure(made) && made.failure._tag === "NotRenderableError")
      })

      const make = Effect.fn("Pictures.make")(function* (file: StoredFile) {
        if (!isDrawable(file)) return yield* files.rendered(file.uuid, { processing: "ready" })
        const missing = yield* Effect.filter(usual, (wanted) => Effect.map(stored(file, wanted), Option.isNone))
        if (missing.length === 0 && file.processing !== "pending") return
        yield* shared(file, usual).pipe(Effect.catchTag("NotRenderableError", () => Effect.void))
      })

      return Thumbnails.of({ get, make, giveUp: (file) => files.rendered(file.uuid, { processing: "failed" }) })
    })
  )
}
