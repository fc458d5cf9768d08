import { Data, Effect, FileSystem, Option, Path, type PlatformError, Schedule, Stream } from "effect"
import { Storage } from "../../storage/Storage.ts"
import * as BackupFolder from "./BackupFolder.ts"
import { CommandError } from "../Failures.ts"

type List = Stream.Stream<BackupFolder.FileLine, PlatformError.PlatformError, FileSystem.FileSystem>

/** What was copied, in bytes. */
interface Count {
  done: number
}

/** A file whose bytes are lost: the storage has none of its name, or has others. */
export class LostFile extends Data.TaggedError("LostFile")<{ readonly key: string; readonly why: string }> {}

/** Copies files that are in use. There is no backup without one of them. */
export const copyUsed = (layout: BackupFolder.Layout, list: List, count: Count) =>
  copyAll(layout, list, count, ({ key, why }) =>
    Effect.fail(
      new CommandError({
        message:
          `The file ${key} is ${why}. There is no backup without it; put it back from an older one, or delete what uses ` +
          "it, and see that the storage is sound"
      })
    )
  )

/** Copies files that nothing uses; tells those that are lost. */
export const copyUnused = Effect.fnUntraced(function* (layout: BackupFolder.Layout, list: List, count: Count) {
  const lost: Array<LostFile> = []
  yield* copyAll(layout, list, count, (file) => Effect.sync(() => void lost.push(file)))
  return lost
})

/** How many files are copied at once. */
const atOnce = 4

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
        yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
        folders.add(folder).add(path.dirname(folder))
        yield* copy(layout, file, count).pipe(
          Effect.retry({ ...patience, while: ({ _tag }) => _tag === "StorageUnavailableError" }),
          Effect.catchTags({
            LostFile: onLost,
            StorageUnavailableError: ({ message }) =>
              Effect.fail(
                new CommandError({
                  message: `The file ${file.key} cannot be copied: ${message}. Run it again when the storage answers`
                })
              )
          })
        )
      }),
      { concurrency: atOnce, unordered: true }
    ),
    Stream.runDrain
  )
  yield* Effect.forEach(folders, BackupFolder.syncFolder, { discard: true })
})

/** Some six seconds, and whatever the storage takes to fail. */
const patience = { times: 5, schedule: Schedule.exponential("200 millis") }

/** A file, which is checked against what the database knows of it; when that fails, nothing is left of it. */
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
      () => new LostFile({ key, why: "not the one that was uploaded" })
    ),
    Effect.onError(() => {
      count.done -= read
      return Effect.ignore(fs.remove(target, { force: true }))
    })
  )
})
