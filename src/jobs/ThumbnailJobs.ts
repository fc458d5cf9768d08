import { Effect, FiberMap, Layer, Option } from "effect"
import type { FileId } from "../domain/assets/File.ts"
import { Files } from "../repositories/assets/Files.ts"
import { ThumbnailQueue } from "../repositories/assets/ThumbnailQueue.ts"
import { Thumbnails } from "../services/Thumbnails.ts"
import { logged, repeatedly } from "./Repeated.ts"

/** How many files of a queue are begun at once: one waits while another is rendered, so that the queue keeps its turn. */
const begun = 2

/** Makes the thumbnails of new assets in the background, of all queues at once; retries failures with increasing delays. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const files = yield* Files
    const thumbnails = yield* Thumbnails
    const queue = yield* ThumbnailQueue
    const serving = yield* FiberMap.make<string>()
    const make = Effect.fnUntraced(function* (uuid: FileId) {
      const file = yield* files.find(uuid)
      // None if the file was deleted after the job was queued.
      if (Option.isSome(file)) yield* thumbnails.make(file.value)
    })
    const next = (name: string) =>
      Effect.catch(queue.take(name, make), (error) =>
        Effect.andThen(Effect.logDebug("Could not make a thumbnail", error), Effect.as(Effect.sleep("1 second"), true))
      )
    const serve = (name: string) =>
      Effect.repeat(logged("Could not make a thumbnail", next(name)), { until: (found) => found === false })
    const serveAll = Effect.gen(function* () {
      for (const name of yield* queue.names)
        for (let place = 0; place < begun; place++)
          yield* FiberMap.run(serving, `${place} ${name}`, serve(name), { onlyIfMissing: true })
    })
    yield* repeatedly("Could not find the thumbnails to make", "1 second", serveAll)
  })
)
