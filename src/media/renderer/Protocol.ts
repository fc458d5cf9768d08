import { Schema } from "effect"

/** The first line from the renderer: it takes jobs. */
export const ready = "ready"

/** An image to make: its longest side in pixels, its format and the file it goes to. */
const Wanted = Schema.Struct({
  longestSide: Schema.Int,
  format: Schema.Literals(["webp", "jpeg"]),
  path: Schema.String
})
export type Wanted = typeof Wanted.Type

/** One line to the renderer. */
export const Job = Schema.fromJsonString(
  Schema.Struct({ path: Schema.String, mimeType: Schema.String, wanted: Schema.Array(Wanted) })
)
export type Job = typeof Job.Type

/** Width and height are pixels of the original as it is shown, the duration is in seconds. */
const Original = Schema.Struct({
  width: Schema.optionalKey(Schema.Int),
  height: Schema.optionalKey(Schema.Int),
  duration: Schema.optionalKey(Schema.Finite)
})
export type Original = typeof Original.Type

/** One line from the renderer, after the images are written or have failed. */
export const Answer = Schema.fromJsonString(
  Schema.Union([
    Schema.TaggedStruct("Rendered", Original.fields),
    /** The file cannot be drawn. */
    Schema.TaggedStruct("Refused", { reason: Schema.String }),
    /** The file is a video, and the process cannot start an ffmpeg. */
    Schema.TaggedStruct("NoFfmpeg", {}),
    /** The ffmpeg that read the file was ended by a signal, as by a crash. */
    Schema.TaggedStruct("Ended", { reason: Schema.String }),
    /** Another failure, such as a full disk. */
    Schema.TaggedStruct("Failed", { reason: Schema.String })
  ])
)
export type Answer = typeof Answer.Type
