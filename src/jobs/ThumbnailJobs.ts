import { Effect, Layer, Option, Schedule } from "effect"
import { Files } from "../repositories/assets/Files.ts"
import { maxAttempts, ThumbnailQueue } from "../repositories/assets/ThumbnailQueue.ts"
import { Thumbnails } from "../services/Thumbnails.ts"
import { logged } from "./Repeated.ts"

/** Makes the thumbnails of new assets in the background, one file at a time; retries failures with increasing delays. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const files = yield* Files
    const thumbnails = yield* Thumbnails
    const queue = yield* ThumbnailQueue
    const next = queue.take((uuid, attempt) =>
      Effect.gen(function* () {
        const file = yield* files.find(uuid)
        // The file was deleted after the job was queued.
        if (Option.isNone(file)) return
        // Another failure, as of the storage or a disk, says nothing about the file: a later request for the thumbnail makes it.
        yield* Effect.catchIf(
          thumbnails.make(file.value),
          (error) => error._tag === "RenderFailedError" && error.fault !== undefined && attempt >= maxAttempts,
          () => thumbnails.giveUp(file.value)
        )
      })
    )
    const quietly = Effect.catch(next, (error) =>
      Effect.andThen(Effect.logDebug("Could not make a thumbnail", error), Effect.sleep("1 second"))
    )
    yield* Effect.forkScoped(Effect.repeat(logged("Could not make a thumbnail", quietly), Schedule.forever))
  })
)
