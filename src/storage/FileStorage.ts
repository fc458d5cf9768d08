import { Clock, Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { access, constants, copyFile, mkdir, readdir, realpath, rm, stat, unlink } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { append, attempt, makeFolders, openFile, orOn, publish, syncFolder, temporaryFile } from "./Durable.ts"
import { type FileLayout, layoutOf } from "./FileLayout.ts"
import * as FileParts from "./FileParts.ts"
import * as FileUploads from "./FileUploads.ts"
import { foldersOf, isObjectKey, objectKey } from "./ObjectKey.ts"
import * as PartUrl from "./PartUrl.ts"
import { type Range, Storage, StorageUnavailableError, type StoredObject } from "./Storage.ts"

export interface FileStorageOptions {
  /** A folder of its own; it is made if it is absent. */
  readonly root: string
  /** The start of part URLs, without a slash at the end. */
  readonly publicUrl: string
  /** The secret that signs part URLs. */
  readonly secret: PartUrl.Secret
}

/** Stores objects as files of this machine. `FileParts` receives the bytes that are sent to part URLs. */
export const layer = ({
  publicUrl,
  root,
  secret
}: FileStorageOptions): Layer.Layer<Storage | FileParts.FileParts, StorageUnavailableError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const layout = yield* Effect.mapError(prepare(root), StorageUnavailableError.at(root))
      yield* Effect.forkScoped(
        Effect.repeat(Effect.ignoreCause(sweep(layout), { log: "Warn" }), Schedule.spaced("1 hour"))
      )
      const objects = objectsIn(layout)
      const uploads = yield* FileUploads.make(layout, objects.size)

      const partUrl: Storage["Service"]["partUrl"] = ({ id }, { expiresInSeconds, maxSize, partNumber }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const expires = Math.floor(now / 1000) + expiresInSeconds
          return `${publicUrl}${PartUrl.signed(secret, { uploadId: id, partNumber, maxSize }, expires)}`
        })

      return Context.make(
        Storage,
        Storage.of({ ...objects, ...uploads, partUrl, partOrigin: Effect.succeed(publicUrl) })
      ).pipe(Context.add(FileParts.FileParts, FileParts.make(layout, secret)))
    })
  )

const prepare = Effect.fnUntraced(function* (root: string) {
  yield* attempt(() => mkdir(root, { recursive: true, mode: 0o700 }))
  const folder = yield* attempt(() => realpath(root))
  // A parent folder without read permission is not one that was just made.
  yield* Effect.ignore(syncFolder(dirname(folder)))
  const layout = layoutOf(folder)
  for (const path of Object.values(layout)) yield* makeFolders(folder, [basename(path)])
  return layout
})

const hour = 3_600_000

/** Removes old temporary files, which crashed processes left behind. */
const sweep = Effect.fnUntraced(function* ({ temporary }: FileLayout) {
  const now = yield* timeIn(temporary)
  for (const name of yield* attempt(() => readdir(temporary))) {
    const path = join(temporary, name)
    const age = yield* attempt(() => stat(path)).pipe(
      Effect.map(({ mtimeMs }) => now - mtimeMs),
      orOn("ENOENT", () => Effect.succeed(0))
    )
    if (age > hour) yield* attempt(() => rm(path, { recursive: true, force: true }))
  }
})

/**
 * Milliseconds since 1970 by the clock of the file system, which dates the files of all nodes. By the clock of a node that
 * is a day ahead, the files that others are writing would look old.
 */
const timeIn = Effect.fnUntraced(function* (folder: string) {
  const { handle } = yield* temporaryFile(folder)
  return (yield* attempt(() => handle.stat())).mtimeMs
}, Effect.scoped)

const isFolderName = (name: string) => /^[0-9a-f]{2}$/.test(name)

/** Large enough for a fast read, small enough for hundreds of concurrent readers. Bytes. */
const readSize = 256 * 1024

const objectsIn = (layout: FileLayout) => {
  const pathOf = (key: string) => Effect.map(objectKey(key), (key) => join(layout.objects, key))
  const statOf = (path: string) =>
    attempt(() => stat(path)).pipe(
      Effect.asSome,
      orOn("ENOENT", () => Effect.succeedNone)
    )

  const check = Effect.forEach(
    Object.values(layout),
    (folder) => attempt(() => access(folder, constants.R_OK | constants.W_OK | constants.X_OK)),
    { discard: true }
  ).pipe(Effect.mapError(StorageUnavailableError.at(dirname(layout.objects))))

  const write = Effect.fn("FileStorage.write")(function* (key: string, bytes: Uint8Array) {
    const target = yield* pathOf(key)
    const file = yield* temporaryFile(layout.temporary)
    yield* append(file, bytes)
    yield* makeFolders(layout.objects, foldersOf(key))
    yield* publish(file, target)
  }, Effect.scoped)

  const writeFile = Effect.fn("FileStorage.writeFile")(function* (key: string, path: string) {
    const target = yield* pathOf(key)
    const copy = yield* temporaryFile(layout.temporary)
    // A file system that supports it shares the bytes of both files.
    yield* attempt(() => copyFile(path, copy.path, constants.COPYFILE_FICLONE))
    yield* attempt(() => copy.handle.chmod(0o600))
    yield* makeFolders(layout.objects, foldersOf(key))
    yield* publish(copy, target)
  }, Effect.scoped)

  const size = Effect.fn("FileStorage.size")(function* (key: string) {
    const found = yield* Effect.flatMap(pathOf(key), statOf)
    // A disk that is not mounted has no objects; they must not pass for removed ones.
    if (Option.isNone(found)) yield* check
    return Option.map(found, ({ size }) => size)
  })

  const read = (key: string, { length, offset }: Range = { offset: 0 }) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const handle = yield* Effect.flatMap(pathOf(key), openFile)
        const { size } = yield* attempt(() => handle.stat())
        const end = Math.min(size, length === undefined ? size : offset + length)
        return Stream.paginate(offset, (position) => {
          const wanted = Math.min(readSize, end - position)
          if (wanted <= 0) return Effect.succeed([[], Option.none()] as const)
          return Effect.flatMap(
            attempt(() => handle.read(Buffer.allocUnsafe(wanted), 0, wanted, position)),
            ({ buffer, bytesRead }) =>
              bytesRead === 0
                ? Effect.fail(cutShort)
                : Effect.succeed([[buffer.subarray(0, bytesRead)], Option.some(position + bytesRead)] as const)
          )
        })
      })
    )

  const localFile = Effect.fn("FileStorage.localFile")(function* (key: string) {
    const path = yield* pathOf(key)
    yield* attempt(() => access(path))
    return path
  })

  const remove = Effect.fn("FileStorage.remove")(function* (key: string) {
    const path = yield* pathOf(key)
    yield* attempt(() => unlink(path)).pipe(orOn("ENOENT", () => Effect.void))
  })

  const namesIn = (folder: string) => attempt(() => readdir(join(layout.objects, folder)))
  const objects = Stream.fromIterableEffect(namesIn(".")).pipe(
    Stream.filter(isFolderName),
    Stream.mapEffect((a) => Effect.map(namesIn(a), (names) => names.filter(isFolderName).map((b) => `${a}/${b}`))),
    Stream.flattenIterable,
    Stream.mapEffect((folder) => Effect.map(namesIn(folder), (names) => names.map((name) => `${folder}/${name}`))),
    Stream.flattenIterable,
    Stream.filter(isObjectKey),
    Stream.mapEffect(
      (key) =>
        Effect.map(statOf(join(layout.objects, key)), (found): ReadonlyArray<StoredObject> =>
          // The time of the rename. The last write can be much older, if the part of an upload became the object.
          Option.toArray(found).map(({ ctimeMs, size }) => ({ key, size, modifiedAt: Math.floor(ctimeMs) }))
        ),
      { concurrency: 8, unordered: true }
    ),
    Stream.flattenIterable
  )

  return { write, writeFile, size, read, localFile, remove, objects, check }
}

const cutShort = new StorageUnavailableError({
  message: "A file of the storage was truncated while it was read"
})
