import { Data, Effect, FileSystem } from "effect"
import type { OutputInfo } from "sharp"
import * as Formats from "../Formats.ts"
import type { Original } from "./Protocol.ts"

/** A decoded file: pixels in sRGB, and the properties of the original. */
export interface Drawing {
  readonly pixels: Uint8Array
  readonly size: Pick<OutputInfo, "width" | "height" | "channels">
  readonly original: Original
}

/** A file that cannot be drawn; the reason completes "it …". */
export class Refused extends Data.TaggedError("Refused")<{ readonly reason: string }> {}

/** A video, on a machine without an ffmpeg. */
export class NoFfmpeg extends Data.TaggedError("NoFfmpeg") {}

/** A video whose ffmpeg was ended by a signal. */
export class Ended extends Data.TaggedError("Ended")<{ readonly reason: string }> {}

/** A file of a kind that is decoded from memory, unless it is too large for that. */
export const bytesOf = Effect.fnUntraced(function* (kind: "vector" | "pdf", path: string) {
  const fs = yield* FileSystem.FileSystem
  const { size } = yield* Effect.orDie(fs.stat(path))
  const reason = Formats.excess(kind, Number(size))
  if (reason !== undefined) return yield* new Refused({ reason })
  return yield* Effect.orDie(fs.readFile(path))
})

/** Turns the error of a decoder into a rejection of the file. */
export const attempt = <A>(evaluate: () => Promise<A>): Effect.Effect<A, Refused> =>
  Effect.tryPromise({
    try: evaluate,
    catch: (cause) => new Refused({ reason: cause instanceof Error ? cause.message : String(cause) })
  })
