import { Cache, Config, Context, Duration, Effect, Exit, FileSystem, Layer, Path, Schema } from "effect"
import { type FileKind, fileKind, type FileName } from "./FileKind.ts"
import * as Formats from "./Formats.ts"
import * as Icons from "./Icons.ts"
import type { Original } from "./renderer/Protocol.ts"
import * as RendererProcess from "./RendererProcess.ts"
import * as RendererSandbox from "./RendererSandbox.ts"
import * as RendererTurns from "./RendererTurns.ts"

/** The file cannot be drawn: its type has no decoder, or it is damaged, too large or of another type. */
export class NotRenderableError extends Schema.TaggedError<NotRenderableError>()("NotRenderableError", {
  message: Schema.String
}) {}

const notDrawn = (reason: string) => new NotRenderableError({ message: `The file cannot be drawn: ${reason}` })

/** The file is a video, and this machine has no ffmpeg. A machine with one can draw it. */
export class NoFfmpegError extends Schema.TaggedError<NoFfmpegError>()("NoFfmpegError", {
  message: Schema.String
}) {}

const noFfmpeg = new NoFfmpegError({ message: "There is no ffmpeg to read videos" })

/** What a file can do while it is worked on: exceed the time limit, or end the process. */
const Fault = Schema.Literals(["tookTooLong", "endedProcess"])

/** The image could not be made this time. Without a fault the error is one of the machine and says nothing about the file. */
export class RenderFailedError extends Schema.TaggedError<RenderFailedError>()("RenderFailedError", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect()),
  fault: Schema.optionalKey(Fault)
}) {
  static because =
    (message: string, facts: { readonly fault?: typeof Fault.Type } = {}) =>
    (cause: unknown) =>
      Effect.fail(new RenderFailedError({ message, cause, ...facts }))
}

/** The longest side of the images, in pixels. */
export const longestSide = { thumbnail: 300, preview: 1200 } as const

/** An image to make. It is upright, has the proportions of the original and no more pixels than that. */
export interface Wanted {
  readonly size: keyof typeof longestSide
  readonly format: "webp" | "jpeg"
}

/** A file on this machine. The MIME type is the sniffed one, and decides how it is read. */
export interface Source {
  readonly path: string
  readonly mimeType: string
}

/** The properties of the original, and the images in the requested order. */
export interface Rendered extends Original {
  readonly images: ReadonlyArray<Uint8Array>
}

interface Options {
  /** The time limit of one file of any kind, without the wait in the queue. */
  readonly timeLimit?: Duration.Input
  /** How long the process that decodes waits for more work. */
  readonly idle?: Duration.Input
  /** After how many files that process is replaced. */
  readonly jobs?: number
}

/**
 * The default time limits of a drawing and of any other file. A drawing of a few kilobytes can describe hours of work; those
 * of icons are our own.
 */
const maxDrawingTime = "5 seconds"
const maxTime = "20 seconds"

/**
 * Makes images of files: of pictures and drawings, of the first page of a PDF, and of a moment of a video when there is an ffmpeg.
 * Nothing of a file is decoded in this process. One file is worked on at a time, the others wait in turn; icons have a process of
 * their own.
 */
export class Renderer extends Context.Service<
  Renderer,
  {
    /** Fails for a file whose type or size cannot be drawn here, before it is read. */
    check(file: {
      readonly mimeType: string
      readonly size: number
    }): Effect.Effect<void, NotRenderableError | NoFfmpegError>
    render(
      source: Source,
      wanted: ReadonlyArray<Wanted>
    ): Effect.Effect<Rendered, NotRenderableError | NoFfmpegError | RenderFailedError>
    /** Starts the process that takes over when the file that is drawn is given up. */
    readonly prepareNext: Effect.Effect<void>
    /** The square icon of a kind of file. */
    icon(file: FileName, wanted: Wanted): Effect.Effect<Uint8Array, RenderFailedError>
  }
>()("waypost/media/Renderer") {
  static readonly layerWith = ({ idle = "1 minute", jobs = 500, timeLimit }: Options) =>
    Layer.effect(
      Renderer,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const searchPath = yield* Effect.orDie(Config.String("PATH").pipe(Config.withDefault("/usr/bin:/bin")))
        const hasFfmpeg = RendererProcess.hasFfmpeg(searchPath).pipe(
          Effect.provideService(FileSystem.FileSystem, fs),
          Effect.provideService(Path.Path, path)
        )
        // Without images there is no process, and nothing to find out.
        const detected = yield* Effect.cached(Effect.uninterruptible(RendererSandbox.detect(RendererProcess.main())))
        const start = Effect.flatMap(detected, (sandbox) =>
          RendererProcess.start({ searchPath, sandbox, program: RendererProcess.main() })
        )
        const turn = yield* RendererTurns.make({ idle, jobs, start })
        // Icons are shown while files are waited for, so they wait for no file.
        const iconTurn = yield* RendererTurns.make({ idle, jobs, start })

        const work = Effect.fnUntraced(function* (
          { ask, folder, sandbox }: RendererProcess.RendererProcess,
          source: Source,
          wanted: ReadonlyArray<Wanted>,
          limit: Duration.Input
        ) {
          const files = wanted.map(({ format, size }, index) => ({
            longestSide: longestSide[size],
            format,
            path: path.join(folder, `image-${index}`)
          }))
          const lent = path.join(folder, "source")
          yield* Effect.provideService(RendererSandbox.lend(sandbox, source.path, lent), FileSystem.FileSystem, fs)
          // Only from here on the time is that of the file: the copy for another user is made by this process.
          const answer = yield* ask({ ...source, path: lent, wanted: files }).pipe(
            Effect.catch(RenderFailedError.because("The process that makes images ended", { fault: "endedProcess" })),
            Effect.timeout(limit)
          )
          if (answer._tag !== "Rendered") return answer
          const images = yield* Effect.forEach(files, (file) => RendererSandbox.result(sandbox, file.path))
          return { ...answer, images }
        }, Effect.scoped)

        const renderIn = Effect.fnUntraced(function* (
          turns: typeof turn,
          source: Source,
          wanted: ReadonlyArray<Wanted>,
          limit: Duration.Input
        ) {
          const answer = yield* turns
            .run((process) => work(process, source, wanted, limit))
            .pipe(
              Effect.catchTags({
                TimeoutError: RenderFailedError.because("The image took too long", { fault: "tookTooLong" }),
                RendererEndedError: RenderFailedError.because("The process that makes images did not start"),
                ImplausibleResultError: RenderFailedError.because("The image cannot be read"),
                PlatformError: RenderFailedError.because("The file cannot be read")
              })
            )
          if ("images" in answer) {
            const { _tag, ...rendered } = answer
            return rendered
          }
          if (answer._tag === "NoFfmpeg") return yield* noFfmpeg
          if (answer._tag === "Refused") return yield* notDrawn(answer.reason)
          return yield* new RenderFailedError({
            message: `The image cannot be made: ${answer.reason}`,
            ...(answer._tag === "Ended" ? { fault: "endedProcess" } : {})
          })
        })

        const formatOf = Effect.fnUntraced(function* (mimeType: string) {
          const format = Formats.format(mimeType)
          if (format === undefined)
            return yield* new NotRenderableError({ message: `Files of the type ${mimeType} are not drawn` })
          if (format.kind === "video" && !(yield* hasFfmpeg)) return yield* noFfmpeg
          return format
        })

        const render = Effect.fn("Renderer.render")(function* (source: Source, wanted: ReadonlyArray<Wanted>) {
          const format = yield* formatOf(source.mimeType)
          const limit = format.kind === "vector" ? maxDrawingTime : maxTime
          return yield* renderIn(turn, source, wanted, timeLimit ?? limit)
        })

        const draw = Effect.fnUntraced(function* (kind: FileKind, wanted: Wanted) {
          const file = yield* fs.makeTempFileScoped({ prefix: "waypost-icon-" })
          yield* fs.writeFileString(file, Icons.svg(kind))
          const source = { path: file, mimeType: "image/svg+xml" }
          const { images } = yield* renderIn(iconTurn, source, [wanted], timeLimit ?? maxTime)
          return images[0]!
        }, Effect.scoped)

        const icons = yield* Cache.makeWith(
          ({ kind, wanted }: { readonly kind: FileKind; readonly wanted: Wanted }) => draw(kind, wanted),
          { capacity: 100, timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero) }
        )
        const icon = Effect.fn("Renderer.icon")((file: FileName, wanted: Wanted) =>
          Cache.get(icons, { kind: fileKind(file), wanted }).pipe(
            Effect.catchTags({
              NotRenderableError: (error) => Effect.die(error),
              NoFfmpegError: (error) => Effect.die(error),
              PlatformError: RenderFailedError.because("The icon cannot be made")
            })
          )
        )
        const check = Effect.fnUntraced(function* ({
          mimeType,
          size
        }: {
          readonly mimeType: string
          readonly size: number
        }) {
          const reason = Formats.excess((yield* formatOf(mimeType)).kind, size)
          if (reason !== undefined) return yield* notDrawn(reason)
        })
        return Renderer.of({ check, render, prepareNext: turn.prepareNext, icon })
      })
    )
  static readonly layer = Renderer.layerWith({})
}
