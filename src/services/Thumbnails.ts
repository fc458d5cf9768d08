import { Context, Effect, Fiber, FiberMap, Layer, Option, Result, Semaphore } from "effect"
import { storageKey } from "../domain/assets/File.ts"
import { ServiceUnavailableError } from "../domain/write/RequestErrors.ts"
import { format as formatOf } from "../media/Formats.ts"
import { Renderer, type NotRenderableError, type RenderFailedError, type Wanted } from "../media/Renderer.ts"
import { Files, type StoredFile } from "../repositories/assets/Files.ts"
import { Storage, type StorageUnavailableError } from "../storage/Storage.ts"

/** The maximum size of a file that is rendered, in bytes. Of a video only one frame is read, so it may be larger. */
const maxBytes = { video: 4 * 1024 ** 3, other: 512 * 1024 ** 2 } as const

/** A thumbnail of a file: an object of the storage, or the bytes of an icon. */
export interface Thumbnail {
  readonly mimeType: string
  readonly size: number
  readonly source: { readonly key: string } | { readonly bytes: Uint8Array }
  /** Whether it never changes. */
  readonly isFinal: boolean
}

export const mimeTypes = { webp: "image/webp", jpeg: "image/jpeg" } as const

const extensions = { webp: ".webp", jpeg: ".jpg" } as const

/** The storage key of a thumbnail. */
const thumbnailKey = (uuid: string, { format, size }: Wanted) => `${storageKey(uuid, `${size}_`)}${extensions[format]}`

const sizes: ReadonlyArray<Wanted["size"]> = ["thumbnail", "preview"]
const formats: ReadonlyArray<Wanted["format"]> = ["webp", "jpeg"]

/** The storage keys of all thumbnails of a file. */
export const thumbnailKeys = (uuid: string): ReadonlyArray<string> =>
  sizes.flatMap((size) => formats.map((format) => thumbnailKey(uuid, { format, size })))

/** The thumbnails that are made ahead of the first request. */
const defaultThumbnails: ReadonlyArray<Wanted> = sizes.map((size) => ({ size, format: "webp" }))

type Failed = NotRenderableError | RenderFailedError | StorageUnavailableError

const notRendered = new ServiceUnavailableError({ message: "The thumbnail cannot be rendered now; try again" })

/** Thumbnails of files: rendered once and stored, or an icon where none can be rendered. */
export class Thumbnails extends Context.Service<
  Thumbnails,
  {
    /** The thumbnail of a file; renders it if it is missing. */
    get(file: StoredFile, wanted: Wanted): Effect.Effect<Thumbnail, StorageUnavailableError>
    /** Renders the default thumbnails of a file; fails if a later attempt may succeed. */
    make(file: StoredFile): Effect.Effect<void, RenderFailedError | StorageUnavailableError>
    /** Marks a file as one that cannot be rendered. */
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
      // The renderer takes one file at a time; with a remote store, one more is copied meanwhile.
      const rendering = yield* Semaphore.make(2)

      const icon = Effect.fnUntraced(function* (file: StoredFile, wanted: Wanted, isFinal: boolean) {
        const bytes = yield* Effect.catch(renderer.icon(file, wanted), () => Effect.die(notRendered))
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

      const isRenderable = ({ mimeType, size }: StoredFile) =>
        formatOf(mimeType) !== undefined && size <= (mimeType.startsWith("video/") ? maxBytes.video : maxBytes.other)

      const render = Effect.fnUntraced(function* (file: StoredFile, wanted: ReadonlyArray<Wanted>) {
        const path = yield* storage.localFile(storageKey(file.uuid))
        const { images, ...facts } = yield* renderer.render({ path, mimeType: file.mimeType }, wanted)
        yield* Effect.forEach(wanted, (thumbnail, index) =>
          storage.write(thumbnailKey(file.uuid, thumbnail), images[index]!, mimeTypes[thumbnail.format])
        )
        if (file.processing === "pending") yield* files.rendered(file.uuid, { ...facts, processing: "ready" })
      }, Effect.scoped)

      /** A file that cannot be rendered is not tried again. */
      const renderOnce = (file: StoredFile, wanted: ReadonlyArray<Wanted>): Effect.Effect<void, Failed> =>
        Effect.tapError(rendering.withPermit(render(file, wanted)), (error) =>
          error._tag === "NotRenderableError" ? files.rendered(file.uuid, { processing: "failed" }) : Effect.void
        )

      /** Renders once for concurrent requests, and without interruption, which would end the process of the renderer. */
      const shared = (file: StoredFile, wanted: ReadonlyArray<Wanted>): Effect.Effect<void, Failed> =>
        Effect.suspend(() => {
          const name = [file.uuid, ...wanted.map(({ format, size }) => `${size} ${format}`)].join()
          return Option.match(FiberMap.getUnsafe(renders, name), {
            onNone: () => Effect.flatMap(FiberMap.run(renders, name, renderOnce(file, wanted)), Fiber.join),
            onSome: Fiber.join
          })
        })

      const get = Effect.fn("Thumbnails.get")(function* (file: StoredFile, wanted: Wanted) {
        if (!isRenderable(file) || file.processing === "failed") return yield* icon(file, wanted, true)
        const found = yield* stored(file, wanted)
        if (Option.isSome(found)) return found.value
        const initial = defaultThumbnails.some((thumbnail) => thumbnail.format === wanted.format)
          ? defaultThumbnails
          : [...defaultThumbnails, wanted]
        const made = yield* shared(file, file.processing === "ready" ? [wanted] : initial).pipe(
          Effect.andThen(stored(file, wanted)),
          Effect.result
        )
        if (Result.isSuccess(made) && Option.isSome(made.success)) return made.success.value
        if (Result.isFailure(made) && made.failure._tag === "StorageUnavailableError") return yield* made.failure
        return yield* icon(file, wanted, Result.isFailure(made) && made.failure._tag === "NotRenderableError")
      })

      const make = Effect.fn("Thumbnails.make")(function* (file: StoredFile) {
        if (!isRenderable(file)) return yield* files.rendered(file.uuid, { processing: "ready" })
        const missing = yield* Effect.filter(defaultThumbnails, (wanted) =>
          Effect.map(stored(file, wanted), Option.isNone)
        )
        if (missing.length === 0 && file.processing !== "pending") return
        yield* shared(file, defaultThumbnails).pipe(Effect.catchTag("NotRenderableError", () => Effect.void))
      })

      const giveUp = Effect.fn("Thumbnails.giveUp")(({ uuid }: StoredFile) =>
        files.rendered(uuid, { processing: "failed" })
      )

      return Thumbnails.of({ get, make, giveUp })
    })
  )
}
