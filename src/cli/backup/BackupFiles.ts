import { Data, Effect, FileSystem, Option, Path, type PlatformError, Schedule, Stream } from "effect"
import { Storage } from "../../storage/Storage.ts"
import * as BackupFolder from "./BackupFolder.ts"
import { CommandError } from "../Failures.ts"

type List = Stream.Stream<BackupFolder.FileLine, PlatformError.PlatformError, FileSystem.FileSystem>

/** The number of bytes copied. */
interface Count {
  done: number
}

/** The storage has no such file, or one with other bytes. */
export class LostFile extends Data.TaggedError("LostFile")<{ readonly key: string; readonly why: string }> {}

/** Copies the files that are in use; fails when one of them is lost. */
export const copyUsed = (layout: BackupFolder.Layout, list: List, count: Count) =>
  copyAll(layout, list, count, ({ key, why }) =>
    Effect.fail(
      new CommandError({
        message:
          `The file ${key} is ${why}, and records use it. No backup was made. Check that STORAGE and DATA_DIR, or S3_BUCKET, ` +
          "are those of the service, and check the storage. If the file is lost, restore it from an older backup or delete " +
          "the records that use it"
      })
    )
  )

/** Copies the unused files and returns those that are lost. */
export const copyUnused = Effect.fnUntraced(function* (layout: BackupFolder.Layout, list: List, count: Count) {
  const lost: Array<LostFile> = []
  yield* copyAll(layout, list, count, (file) => Effect.sync(() => void lost.push(file)))
  return lost
})

/** Files copied concurrently. */
const concurrency = 4

const copyAll = Effect.fnUntraced(function* <E>(
  layout: BackupFolder.Layout,
  list: List,
  count: Count,
  onLost: (file: LostFile) => Effect.Effect<void, E>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folders = new Set([layout.files])
  yield* list.pipe(
    Stream.mapEffect(
      Effect.fnUntraced(function* (file) {
        const folder = path.dirname(layout.file(file.key))
        // The failure of another file waits for it: a folder that appears while the backup is removed would stay.
        yield* Effect.uninterruptible(fs.makeDirectory(folder, { recursive: true, mode: 0o700 }))
        folders.add(folder).add(path.dirname(folder))
        yield* copy(layout, file, count).pipe(
          Effect.retry({ ...retries, while: ({ _tag }) => _tag === "StorageUnavailableError" }),
          Effect.catchTags({
            LostFile: onLost,
            StorageUnavailableError: ({ message }) =>
              Effect.fail(
                new CommandError({
                  message: `The file ${file.key} cannot be copied: ${message}. Run the command again when the storage is available`
                })
              )
          })
        )
      }),
      { concurrency, unordered: true }
    ),
    Stream.runDrain
  )
  yield* Effect.forEach(folders, BackupFolder.syncFolder, { discard: true })
})

/** About six seconds, in addition to the time the storage needs to fail. */
const retries = { times: 5, schedule: Schedule.exponential("200 millis") }

/** Copies a file and checks it against its row in the database; removes the copy on failure. */
const copy = Effect.fnUntraced(function* (
  layout: BackupFolder.Layout,
  { key, sha256, size }: BackupFolder.FileLine,
  count: Count
) {
  const fs = yield* FileSystem.FileSystem
  const storage = yield* Storage
  const target = layout.file(key)
  let read = 0
  const bytes = Stream.tap(storage.read(key), (chunk) =>
    Effect.sync(() => {
      read += chunk.length
      count.done += chunk.length
    })
  )
  yield* BackupFolder.write(target, bytes).pipe(
    Effect.catchTag("StorageUnavailableError", (error) =>
      Effect.flatMap(storage.size(key), (found) =>
        Effect.fail(Option.isNone(found) ? new LostFile({ key, why: "missing" }) : error)
      )
    ),
    Effect.filterOrFail(
      (written) => written.bytes === size && written.sha256 === sha256,
      () => new LostFile({ key, why: "different from the uploaded one" })
    ),
    Effect.onError(() => {
      count.done -= read
      return Effect.ignore(fs.remove(target, { force: true }))
    })
  )
})
