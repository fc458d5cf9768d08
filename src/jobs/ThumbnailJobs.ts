import { Effect, Layer, Option, Schedule } from "effect"
import { Files } from "../repositories/assets/Files.ts"
import { maxAttempts, ThumbnailQueue } from "../repositories/assets/ThumbnailQueue.ts"
import { Thumbnails } from "../services/Thumbnails.ts"

/** Makes the pictures of new assets in the background, one file at a time; what fails is tried again, later each time. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const files = yield* Files
    const pictures = yield* Thumbnails
    const renditions = yield* ThumbnailQueue
    const next = renditions.take((uuid, attempt) =>
      Effect.gen(function* () {
        const file = yield* files.find(uuid)
        // Deleted since.
        if (Option.isNone(file)) return
        // A storage that is away says nothing about the file: whoever asks for the picture later has it made.
        yield* Effect.tapError(pictures.make(file.value), ({ _tag }) =>
          attempt >= maxAttempts && _tag === "RenderFailedError" ? pictures.giveUp(file.value) : Effect.void
        )
      })
    )
    const quietly = Effect.catchCause(next, (cause) =>
      Effect.andThen(Effect.logDebug("A picture could not be made", cause), Effect.sleep("1 second"))
    )
    yield* Effect.forkScoped(Effect.repeat(quietly, Schedule.forever))
  })
)
