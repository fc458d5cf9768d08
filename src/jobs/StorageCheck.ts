import { Effect, Layer, Option, Schedule } from "effect"
import { storageKey } from "../domain/assets/File.ts"
import { Files } from "../repositories/assets/Files.ts"
import { Storage } from "../storage/Storage.ts"

/**
 * Logs an error if none of the latest files is in the storage: an empty folder, or another bucket, works as well as the right one,
 * and what is uploaded there is lost when the right one is back.
 */
export const checkStorage = Effect.fnUntraced(function* (name: string) {
  const storage = yield* Storage
  const latest = yield* (yield* Files).latest
  const sizes = yield* Effect.forEach(latest, (uuid) => storage.size(storageKey(uuid)))
  if (sizes.length === 0 || sizes.some(Option.isSome)) return
  yield* Effect.logError(
    `None of the latest files that the database knows is in ${name}. Is its disk mounted, and are STORAGE, DATA_DIR, S3_BUCKET and DATABASE_URL those of one installation?`
  )
})

/** Checks once, when the storage and the database answer; until then `/readyz` reports it. */
export const layer = <E, R>(name: Effect.Effect<string, E, R>) =>
  Layer.effectDiscard(
    Effect.flatMap(name, (name) =>
      Effect.forkScoped(Effect.retry(Effect.sandbox(checkStorage(name)), Schedule.spaced("10 seconds")))
    )
  )
