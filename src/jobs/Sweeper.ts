import { Array as Arr, Effect, Layer, Option, Result, Schedule, Stream } from "effect"
import { isUuid } from "../domain/schema/Fields.ts"
import { storageKey } from "../domain/assets/File.ts"
import { Files } from "../repositories/assets/Files.ts"
import { Uploads } from "../repositories/assets/Uploads.ts"
import { Storage, type StorageUnavailableError } from "../storage/Storage.ts"
import { thumbnailKeys } from "../services/Thumbnails.ts"
import { inStorage } from "../services/Uploads.ts"

/** Bytes without a row are left alone this long, in milliseconds: longer than any upload may take to get its row. */
const grace = 48 * 3_600_000

/** How many objects are looked up at once. */
const batch = 500

/** The uuid of the file an object belongs to: an original, or a picture with its prefix and extension. */
const fileOf = (key: string): Option.Option<string> => {
  const name = /(?:^|\/)(?:thumbnail_|preview_)?([0-9a-f-]{36})(?:\.webp|\.jpg)?$/.exec(key)?.[1]
  return name !== undefined && isUuid(name) ? Option.some(name) : Option.none()
}

/**
 * Takes away what nobody needs: uploads whose time has passed, and files that nothing has had for a week. A row always goes
 * before its bytes; so whatever stops this half-way, no file that something refers to is without its bytes.
 */
export const sweep = Effect.gen(function* () {
  const files = yield* Files
  const storage = yield* Storage
  const uploads = yield* Uploads

  const removeBytes = (uuid: string) =>
    Effect.forEach([storageKey(uuid), ...thumbnailKeys(uuid)], (key) => storage.remove(key), { discard: true })

  for (let more = true; more;) {
    const overdue = yield* uploads.overdue
    for (const upload of overdue) {
      if (!(yield* uploads.end(upload.uuid, "expired"))) continue
      if (upload.storageId !== undefined) yield* left(storage.abort(inStorage(upload, upload.storageId)))
      yield* left(storage.remove(storageKey(upload.fileUuid)))
    }
    more = overdue.length > 0
  }

  for (let more = true; more;) {
    const gone = yield* files.deleteUnattached
    yield* Effect.forEach(gone, (uuid) => left(removeBytes(uuid)), { discard: true })
    more = gone.length > 0
  }
})

/** What cannot be taken away now is an orphan, and taken away later. */
const left = <A, R>(effect: Effect.Effect<A, StorageUnavailableError, R>) =>
  Effect.catch(effect, (error) => Effect.logWarning("Bytes that nobody needs stay for now", error))

/**
 * Takes away bytes without a row; `now` in milliseconds since 1970. A storage most of whose bytes the database does not
 * know is not this database's: then nothing is taken away, whatever led to that.
 */
export const sweepOrphans = Effect.fnUntraced(function* (now: number) {
  const files = yield* Files
  const storage = yield* Storage
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
  for (const keys of Arr.chunksOf(orphans, batch)) {
    // Asked again right before: minutes may have passed.
    const uuids = keys.map((key) => Option.getOrThrow(fileOf(key)))
    const known = yield* files.known(uuids)
    const unknown = keys.filter((_, index) => !known.has(uuids[index]!))
    yield* Effect.forEach(unknown, (key) => storage.remove(key), { discard: true })
  }
  yield* storage.uploads.pipe(
    Stream.filter(({ beganAt }) => beganAt < oldest),
    Stream.runForEach((upload) => left(storage.abort(upload)))
  )
})

// Several nodes look at one storage, and uploads are as old as the database says.
const sweepOrphansNow = Effect.flatMap(Files, ({ now }) => Effect.flatMap(now, sweepOrphans))

const quietly = <R>(effect: Effect.Effect<void, StorageUnavailableError, R>) =>
  Effect.catchCause(effect, (cause) => Effect.logWarning("Could not sweep the storage", cause))

/** Sweeps now and then while the service runs; several processes may at once. Looking at all bytes is for every few hours. */
export const layer = Layer.effectDiscard(
  Effect.andThen(
    Effect.forkScoped(Effect.repeat(quietly(sweep), Schedule.jittered(Schedule.spaced("10 minutes")))),
    Effect.forkScoped(Effect.repeat(quietly(sweepOrphansNow), Schedule.jittered(Schedule.spaced("6 hours"))))
  )
)
