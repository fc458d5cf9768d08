import { Data, Effect } from "effect"
import type { OutputInfo } from "sharp"
import type { Original } from "./Protocol.ts"

/** What a decoder makes of a file: pixels in sRGB, and what is known of the original. */
export interface Drawing {
  readonly pixels: Uint8Array
  readonly size: Pick<OutputInfo, "width" | "height" | "channels">
  readonly original: Original
}

/** A file that will never be an image; the reason completes "it …" in plain words. */
export class Refused extends Data.TaggedError("Refused")<{ readonly reason: string }> {}

/** Whatever a decoder says against a file, in its own words. */
export const attempt = <A>(evaluate: () => Promise<A>): Effect.Effect<A, Refused> =>
  Effect.tryPromise({
    try: evaluate,
    catch: (cause) => new Refused({ reason: cause instanceof Error ? cause.message : String(cause) })
  })
