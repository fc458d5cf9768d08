import { Clock, Effect, Layer, Option, Schedule, Stream } from "effect"
import { isUuid } from "../domain/Fields.ts"
import { storageKey } from "../domain/File.ts"
import { Files } from "../repositories/Files.ts"
import { Uploads } from "../repositories/Uploads.ts"
import { Storage } from "../storage/Storage.ts"
import { inStorage } from "./Uploads.ts"

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
 * Takes away what nobody needs: uploads whose time has passed, files that nothing has had for a week, and bytes that have
 * no row. A row always goes before its bytes, and bytes only go when the database, asked right before, knows nothing of
 * them; so whatever stops this half-way, no file that something refers to is without its bytes.
 */
export const sweep = Effect.gen(function* () {
  const files = yield* Files
  const storage = yield* Storage
  const uploads = yield* Uploads

  const removeBytes = (uuid: string) =>
    Effect.forEach(
      [
        storageKey(uuid),
        ...["thumbnail_", "preview_"].flatMap((prefix) =>
          [".webp", ".jpg"].map((extension) => `${storageKey(uuid, prefix)}${extension}`)
        )
      ],
      (key) => storage.remove(key),
      { discard: true }
    )

  for (let more = true; more;) {
    const overdue = yield* uploads.overdue
    for (const upload of overdue) {
      if (!(yield* uploads.end(upload.uuid, "expired"))) continue
      if (upload.storageId !== undefined) yield* storage.abort(inStorage(upload, upload.storageId))
      yield* storage.remove(storageKey(upload.fileUuid))
    }
    more = overdue.length > 0
  }

  for (let more = true; more;) {
    const gone = yield* files.deleteUnattached
    yield* Effect.forEach(gone, removeBytes, { discard: true })
    more = gone.length > 0
  }

  const oldest = (yield* Clock.currentTimeMillis) - grace
  yield* storage.objects.pipe(
    Stream.filter(({ modifiedAt }) => modifiedAt < oldest),
    Stream.grouped(batch),
    Stream.runForEach(
      Effect.fnUntraced(function* (objects) {
        const owned = objects.flatMap(({ key }) =>
          Option.match(fileOf(key), { onNone: () => [], onSome: (uuid) => [{ key, uuid }] })
        )
        const known = yield* files.known(owned.map(({ uuid }) => uuid))
        const orphans = owned.filter(({ uuid }) => !known.has(uuid))
        yield* Effect.forEach(orphans, ({ key }) => storage.remove(key), { discard: true })
      })
    )
  )
  yield* storage.uploads.pipe(
    Stream.filter(({ beganAt }) => beganAt < oldest),
    Stream.runForEach((upload) => storage.abort(upload))
  )
})

const quietly = Effect.catchCause(sweep, (cause) => Effect.logWarning("Could not sweep the storage", cause))

/** Sweeps now and then while the service runs; several processes may at once. */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(Effect.repeat(quietly, Schedule.jittered(Schedule.spaced("10 minutes"))))
)
