import { Array as Arr, Effect, Layer, Option, Random, Result, Stream } from "effect"
import { isUuid } from "../domain/schema/Fields.ts"
import { storageKey } from "../domain/assets/File.ts"
import { Files } from "../repositories/assets/Files.ts"
import { Uploads } from "../repositories/assets/Uploads.ts"
import { Storage, type StorageUnavailableError } from "../storage/Storage.ts"
import { thumbnailKeys } from "../services/ThumbnailKeys.ts"
import { inStorage } from "../services/StoredUploads.ts"
import { repeatedlyFromStart } from "./Repeated.ts"

const hour = 3_600_000

/** The minimum age of bytes without a row, in milliseconds: longer than an upload may take to create its row. */
const grace = 48 * hour

/** How long a file is kept after its last use, and the row of an upload after its time, in milliseconds. */
const week = 7 * 24 * hour

/** Objects per lookup. */
const batch = 500

/** The uuid of the file an object belongs to: an original, or a thumbnail with its prefix and extension. */
const fileOf = (key: string): Option.Option<string> => {
  const name = /(?:^|\/)(?:thumbnail_|preview_)?([0-9a-f-]{36})(?:\.webp|\.jpg)?$/.exec(key)?.[1]
  return name !== undefined && isUuid(name) ? Option.some(name) : Option.none()
}

/**
 * Removes expired uploads, a week later their rows, and files that have been unattached for a week. A row is always deleted before
 * its bytes, so an interruption never leaves a referenced file without its bytes. After a restore or a recovery all times begin
 * again, because the next recovery may be to a later time, when the bytes had a row and the file was in use.
 */
export const sweep = Effect.gen(function* () {
  const files = yield* Files
  const storage = yield* Storage
  const uploads = yield* Uploads
  const sinceRestore = yield* files.sinceRestore
  const removal = removals()

  const removeBytes = (uuid: string) =>
    Effect.forEach([storageKey(uuid), ...thumbnailKeys(uuid)], (key) => storage.remove(key), { discard: true })

  for (let more = sinceRestore > grace; more;) {
    const overdue = yield* uploads.overdue
    for (const upload of overdue) {
      if (!(yield* uploads.end(upload.uuid, "expired"))) continue
      const key = storageKey(upload.fileUuid)
      if (upload.storageId !== undefined) yield* removal(key, storage.abort(inStorage(upload, upload.storageId)))
      yield* removal(key, storage.remove(key))
    }
    more = overdue.length > 0
  }

  for (let more = sinceRestore > week; more;) {
    const gone = yield* files.deleteUnattached
    yield* Effect.forEach(gone, (uuid) => removal(storageKey(uuid), removeBytes(uuid)), { discard: true })
    more = gone.length > 0
  }

  if (sinceRestore > week) yield* uploads.removeEnded
})

/** The failures in a row that end a sweep: the cause is then the storage and not single objects. */
const maxFailures = 10

/** The removals of one sweep. Bytes that cannot be removed now are orphans, which a later `sweepOrphans` removes. */
const removals = () => {
  let failures = 0
  return <A, R>(key: string, effect: Effect.Effect<A, StorageUnavailableError, R>) =>
    effect.pipe(
      Effect.tap(() => Effect.sync(() => void (failures = 0))),
      Effect.catch((error) =>
        ++failures < maxFailures
          ? Effect.logWarning(`Could not remove the unused bytes of ${key}; a later sweep removes them`, error)
          : Effect.fail(error)
      )
    )
}

/**
 * Removes bytes without a row; `now` in milliseconds since 1970. Removes nothing when the database does not know the
 * majority of the objects: the storage then probably belongs to another database. After a restore it waits as `sweep` does.
 */
export const sweepOrphans = Effect.fn("Sweeper.sweepOrphans")(function* (now: number) {
  const files = yield* Files
  const storage = yield* Storage
  if ((yield* files.sinceRestore) <= grace) return
  const removal = removals()
  const oldest = now - grace
  let owned = 0
  const orphans: Array<string> = []
  yield* storage.objects.pipe(
    Stream.filter(({ modifiedAt }) => modifiedAt < oldest),
    Stream.filterMap(({ key }) =>
      Option.match(fileOf(key), { onNone: () => Result.failVoid, onSome: (uuid) => Result.succeed({ key, uuid }) })
    ),
    Stream.grouped(batch),
    Stream.runForEach(
      Effect.fnUntraced(function* (objects) {
        const known = yield* files.known(objects.map(({ uuid }) => uuid))
        for (const { key, uuid } of objects) {
          if (known.has(uuid)) owned++
          else orphans.push(key)
        }
      })
    )
  )
  if (orphans.length > owned) {
    return yield* Effect.logError(
      `The storage holds ${orphans.length} old objects that this database does not know, and ${owned} that it does. Is it the storage of another installation? Nothing was removed.`
    )
  }
  // From another object each time, so that ten which are never removed do not keep those after them.
  const first = yield* Random.nextIntBetween(0, Math.max(1, orphans.length))
  const removed = yield* Effect.exit(
    Effect.forEach(
      Arr.chunksOf(Arr.rotate(orphans, first), batch),
      Effect.fnUntraced(function* (keys) {
        // Checked again just before the removal: minutes may have passed.
        const uuids = keys.map((key) => Option.getOrThrow(fileOf(key)))
        const known = yield* files.known(uuids)
        const unknown = keys.filter((_, index) => !known.has(uuids[index]!))
        yield* Effect.forEach(unknown, (key) => removal(key, storage.remove(key)), { discard: true })
      }),
      { discard: true }
    )
  )
  const ending = removals()
  yield* storage.uploads.pipe(
    Stream.filter(({ beganAt }) => beganAt < oldest),
    Stream.runForEach((upload) => ending(upload.key, storage.abort(upload)))
  )
  return yield* removed
})

// The clock of the database, because several nodes share one storage.
const sweepOrphansNow = Effect.flatMap(Files, ({ now }) => Effect.flatMap(now, sweepOrphans))

/** Sweeps while the service runs, also in several processes. Listing the whole storage is costly, so it happens less often. */
export const layer = Layer.effectDiscard(
  Effect.andThen(
    repeatedlyFromStart("Could not sweep the storage", "10 minutes", sweep),
    repeatedlyFromStart("Could not sweep the storage", "6 hours", sweepOrphansNow)
  )
)
