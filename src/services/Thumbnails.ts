import { Context, type Duration, Effect, Fiber, FiberMap, identity, Layer, Option, Result } from "effect"
import { storageKey } from "../domain/assets/File.ts"
import { ServiceUnavailableError } from "../domain/write/RequestErrors.ts"
import { format as formatOf } from "../media/Formats.ts"
import {
  Renderer,
  type NoFfmpegError,
  type NotRenderableError,
  RenderFailedError,
  type Wanted
} from "../media/Renderer.ts"
import { Files, type StoredFile } from "../repositories/assets/Files.ts"
import { Settings } from "../settings/Config.ts"
import { Storage, type StorageUnavailableError } from "../storage/Storage.ts"
import { ApiKeys } from "./ApiKeys.ts"
import * as FailedFiles from "./FailedFiles.ts"
import { defaultThumbnails, mimeTypes, thumbnailKey } from "./ThumbnailKeys.ts"
import * as ThumbnailTurns from "./ThumbnailTurns.ts"

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

/** Surrounds the wait of a request for a thumbnail; none if it may not wait. */
export type Wait = <A, E>(made: Effect.Effect<Option.Option<A>, E>) => Effect.Effect<Option.Option<A>, E>

type Failed = NotRenderableError | NoFfmpegError | RenderFailedError | StorageUnavailableError

const notRendered = new ServiceUnavailableError({ message: "The thumbnail cannot be rendered now; try again" })

/** How long a request waits for a thumbnail before it is answered with the icon of the file. */
export const ThumbnailPatience = Context.Reference<Duration.Input>("waypost/services/Thumbnails/ThumbnailPatience", {
  defaultValue: () => "2 seconds"
})

/** How long a request waits before its icon is drawn. */
const prepareAfter = "500 millis"

/** Above it a request waits for no thumbnail of a file that the same key uploaded, and none is queued for it. */
const maxWaiting = 100

/** Thumbnails of files: rendered once and stored, or an icon where none can be rendered. */
export class Thumbnails extends Context.Service<
  Thumbnails,
  {
    /** The thumbnail of a file; renders it if it is missing. It is the icon while that takes longer than a request waits. */
    get(file: StoredFile, wanted: Wanted, wait?: Wait): Effect.Effect<Thumbnail, StorageUnavailableError>
    /** Renders the default thumbnails of a file; fails if a later attempt may succeed. */
    make(file: StoredFile): Effect.Effect<void, RenderFailedError | StorageUnavailableError>
  }
>()("waypost/services/Thumbnails") {
  static readonly layer = Layer.effect(
    Thumbnails,
    Effect.gen(function* () {
      const renderer = yield* Renderer
      const files = yield* Files
      const keys = yield* ApiKeys
      const storage = yield* Storage
      const renders = yield* FiberMap.make<string, void, Failed>()
      const { STORAGE } = yield* Settings
      const patience = yield* ThumbnailPatience
      const scope = yield* Effect.scope
      // The renderer takes one file at a time; with a remote store, one more is copied concurrently.
      const turns = ThumbnailTurns.make(STORAGE === "s3" ? 2 : 1, renderer.prepareNext)
      const failedFiles = FailedFiles.make()
      /** The renders that a request has waited for. */
      const requested = new Set<string>()

      /** Files that never exceeded the time limit go first; among them, and among the others, those of requests. */
      const priorityOf = (file: StoredFile, name: string) => () =>
        (failedFiles.isSlow(file.uuid) ? ThumbnailTurns.behindAll : 0) + (requested.has(name) ? 0 : 1)

      const icon = Effect.fnUntraced(function* (file: StoredFile, wanted: Wanted, isFinal: boolean) {
        const bytes = yield* Effect.catch(renderer.icon(file, wanted), () => Effect.die(notRendered))
        return {
          mimeType: mimeTypes[wanted.format],
          size: bytes.length,
          source: { bytes },
          isFinal
        } satisfies Thumbnail
      })

      /** Draws the icon in the background, because the process that draws it may have to start. */
      const prepared = (file: StoredFile, wanted: Wanted) =>
        Effect.forkIn(Effect.ignoreCause(renderer.icon(file, wanted)), scope)

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

      const shareOf = ({ uploadedBy }: StoredFile) =>
        uploadedBy === undefined ? Effect.succeed("") : keys.shareOf(uploadedBy)

      /** Whether the file was rendered before its turn ended. */
      const render = Effect.fnUntraced(function* (
        file: StoredFile,
        wanted: ReadonlyArray<Wanted>,
        turn: ThumbnailTurns.Turn
      ) {
        const localFile = storage.localFile(storageKey(file.uuid))
        const copy = yield* turn.copy(
          Effect.catchTag(localFile, "CopyFailedError", RenderFailedError.because("The file cannot be copied"))
        )
        if (Option.isNone(copy)) return false
        const source = { path: copy.value, mimeType: file.mimeType }
        const drawn = yield* turn.draw(renderer.render(source, wanted))
        if (Option.isNone(drawn)) return false
        const { images, ...facts } = drawn.value
        yield* Effect.forEach(wanted, (thumbnail, index) =>
          storage.write(thumbnailKey(file.uuid, thumbnail), images[index]!, mimeTypes[thumbnail.format])
        )
        if (file.processing === "pending") yield* files.rendered(file.uuid, { ...facts, processing: "ready" })
        return true
      }, Effect.scoped)

      const isGivenUp = ({ uuid }: StoredFile, error: Failed) =>
        error._tag === "RenderFailedError" && failedFiles.isGivenUp(uuid, error.fault)
      const markFailed = ({ uuid }: StoredFile) => files.rendered(uuid, { processing: "failed" })

      /** A file that cannot be rendered is not tried again. */
      const renderOnce = (
        file: StoredFile,
        wanted: ReadonlyArray<Wanted>,
        name: string,
        share: string
      ): Effect.Effect<void, Failed> =>
        turns
          .run(share, priorityOf(file, name), (turn) =>
            Effect.tapError(render(file, wanted, turn), (error) => {
              if (error._tag !== "RenderFailedError") return Effect.void
              if (error.fault === "tookTooLong") turns.noteSlow(share)
              return failedFiles.add(file.uuid, error.fault)
            })
          )
          .pipe(
            // A file that is too large, and a video on a machine without an ffmpeg, wait for no turn and are not copied.
            (turn) => Effect.andThen(renderer.check(file), turn),
            Effect.tapError((error) =>
              error._tag === "NotRenderableError" || isGivenUp(file, error) ? markFailed(file) : Effect.void
            ),
            Effect.ensuring(Effect.sync(() => requested.delete(name)))
          )

      /** Renders once for concurrent requests, and without interruption, which would end the process of the renderer. */
      const begin = (
        file: StoredFile,
        wanted: ReadonlyArray<Wanted>,
        { isRequested, share }: { readonly isRequested: boolean; readonly share: string }
      ): Effect.Effect<Fiber.Fiber<void, Failed>> =>
        Effect.suspend(() => {
          const name = [file.uuid, ...wanted.map(({ format, size }) => `${size} ${format}`)].join()
          if (isRequested) requested.add(name)
          return Option.match(FiberMap.getUnsafe(renders, name), {
            onNone: () => FiberMap.run(renders, name, renderOnce(file, wanted, name, share)),
            onSome: Effect.succeed
          })
        })

      const get = Effect.fn("Thumbnails.get")(function* (file: StoredFile, wanted: Wanted, wait: Wait = identity) {
        if (!isRenderable(file)) return yield* icon(file, wanted, true)
        const found = yield* stored(file, wanted)
        if (Option.isSome(found)) return found.value
        if (file.processing === "failed") return yield* icon(file, wanted, true)
        const initial = defaultThumbnails.some((thumbnail) => thumbnail.format === wanted.format)
          ? defaultThumbnails
          : [...defaultThumbnails, wanted]
        const share = yield* shareOf(file)
        if (turns.waiting(share) >= maxWaiting || (yield* failedFiles.isRecent(file.uuid)))
          return yield* icon(file, wanted, false)
        const rendering = yield* begin(file, file.processing === "ready" ? [wanted] : initial, {
          isRequested: true,
          share
        })
        const made = yield* Fiber.join(rendering).pipe(
          Effect.andThen(stored(file, wanted)),
          Effect.result,
          Effect.timeoutOption(patience),
          Effect.raceFirst(Effect.andThen(Effect.delay(prepared(file, wanted), prepareAfter), Effect.never)),
          wait
        )
        if (Option.isNone(made)) return yield* icon(file, wanted, false)
        const result = made.value
        if (Result.isSuccess(result) && Option.isSome(result.success)) return result.success.value
        if (Result.isFailure(result) && result.failure._tag === "StorageUnavailableError") return yield* result.failure
        return yield* icon(file, wanted, Result.isFailure(result) && result.failure._tag === "NotRenderableError")
      })

      const make = Effect.fn("Thumbnails.make")(function* (file: StoredFile) {
        if (!isRenderable(file)) return yield* files.rendered(file.uuid, { processing: "ready" })
        const missing = yield* Effect.filter(defaultThumbnails, (wanted) =>
          Effect.map(stored(file, wanted), Option.isNone)
        )
        if (missing.length === 0 && file.processing !== "pending") return
        yield* begin(file, defaultThumbnails, { isRequested: false, share: yield* shareOf(file) }).pipe(
          Effect.flatMap(Fiber.join),
          Effect.catchTags({
            NotRenderableError: () => Effect.void,
            // A request on a machine with an ffmpeg renders it.
            NoFfmpegError: () => Effect.void
          }),
          Effect.catchIf(
            (error) => isGivenUp(file, error),
            () => Effect.void
          )
        )
      })

      return Thumbnails.of({ get, make })
    })
  )
}
