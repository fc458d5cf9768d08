import { Effect, Exit, Fiber, FiberMap, Option, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { isUuid } from "../domain/schema/Fields.ts"
import {
  append,
  attempt,
  makeFolders,
  move,
  openFile,
  orOn,
  publish,
  syncFolder,
  type TemporaryFile,
  temporaryFile
} from "./Durable.ts"
import { type FileLayout, keyFile, uploadFolder } from "./FileLayout.ts"
import { foldersOf, isObjectKey, objectKey } from "./ObjectKey.ts"
import * as PartFiles from "./PartFiles.ts"
import { checkParts, type ListedPart, unknownUpload } from "./PartList.ts"
import { type InvalidPartsError, type MultipartUpload, StorageUnavailableError } from "./Storage.ts"

/** Multipart uploads as folders of files; `sizeOf` returns the size of an existing object. */
export const make = Effect.fnUntraced(function* (
  layout: FileLayout,
  sizeOf: (key: string) => Effect.Effect<Option.Option<number>, StorageUnavailableError>
) {
  const joins = yield* FiberMap.make<string, void, StorageUnavailableError | InvalidPartsError>()

  const begin = Effect.fn("FileStorage.begin")(function* (key: string) {
    const id = SecureRandom.uuidV4Unsafe()
    const folder = join(layout.temporary, id)
    const file = yield* temporaryFile(layout.temporary)
    yield* append(file, Buffer.from(yield* objectKey(key)))
    yield* Effect.acquireRelease(
      attempt(() => mkdir(folder, 0o700)),
      () => Effect.ignore(attempt(() => rm(folder, { recursive: true, force: true })))
    )
    yield* publish(file, join(folder, keyFile))
    yield* move(folder, join(layout.uploads, id))
    return { key, id } satisfies MultipartUpload
  }, Effect.scoped)

  const parts = Effect.fn("FileStorage.parts")(function* ({ id }: MultipartUpload) {
    const folder = uploadFolder(layout, id)
    return folder === undefined ? [] : yield* PartFiles.list(folder)
  })

  /** Renames the upload in one step, then removes it; the removal waits for parts that are being received. */
  const discard = Effect.fnUntraced(function* (id: string) {
    const folder = uploadFolder(layout, id)
    if (folder === undefined) return
    const remains = join(layout.temporary, SecureRandom.uuidV4Unsafe())
    const known = yield* attempt(() => rename(folder, remains)).pipe(
      Effect.as(true),
      orOn("ENOENT", () => Effect.succeed(false))
    )
    if (known) yield* attempt(() => rm(remains, { recursive: true, force: true, maxRetries: 5, retryDelay: 10 }))
  })

  /** Can be repeated after a crash at any point: the parts exist until the object does. */
  const joinParts = Effect.fnUntraced(function* ({ id, key }: MultipartUpload, parts: ReadonlyArray<ListedPart>) {
    const folder = join(layout.uploads, id)
    const target = join(layout.objects, key)
    const paths = yield* PartFiles.locate(folder, parts)
    yield* makeFolders(layout.objects, foldersOf(key))
    if (paths.length === 1) yield* move(paths[0]!, target)
    else {
      const file = yield* temporaryFile(layout.temporary)
      const buffer = Buffer.allocUnsafe(1024 * 1024)
      for (const path of paths) yield* copy(path, file, buffer)
      yield* publishBy(folder, file, target)
    }
    yield* discard(id)
  }, Effect.scoped)

  const complete = Effect.fn("FileStorage.complete")(function* (
    upload: MultipartUpload,
    parts: ReadonlyArray<ListedPart>
  ) {
    const isThere = Effect.map(sizeOf(yield* objectKey(upload.key)), Option.isSome)
    yield* checkParts(parts)
    if (yield* isThere) {
      // The process that made it may have crashed after the rename and before the flush.
      yield* syncFolder(yield* makeFolders(layout.objects, foldersOf(upload.key)))
      return yield* discard(upload.id)
    }
    if (!isUuid(upload.id)) return yield* unknownUpload
    // Joining gigabytes can outlast the request. It continues, and a repeated request waits for it.
    const joined = yield* Effect.suspend(() =>
      Option.match(FiberMap.getUnsafe(joins, upload.id), {
        onNone: () =>
          FiberMap.run(joins, upload.id, orOn("ENOENT", () => Effect.fail(unknownUpload))(joinParts(upload, parts))),
        onSome: Effect.succeed
      })
    )
    yield* Fiber.await(joined).pipe(
      Effect.flatMap((exit) => (Exit.hasInterrupts(exit) ? Effect.fail(interrupted) : exit)),
      // Another process, or a join that has just ended, may have consumed the parts and made the object.
      Effect.catchTag("InvalidPartsError", (error) =>
        Effect.flatMap(isThere, (made) => (made ? Effect.void : Effect.fail(error)))
      )
    )
  })

  const uploads = Stream.fromIterableEffect(attempt(() => readdir(layout.uploads))).pipe(
    Stream.filter(isUuid),
    Stream.mapEffect(
      (id) => {
        const file = join(layout.uploads, id, keyFile)
        return Effect.all([attempt(() => readFile(file, "utf8")), attempt(() => stat(file))]).pipe(
          Effect.map(([key, { mtimeMs }]) => [{ id, key, beganAt: Math.floor(mtimeMs) }]),
          orOn("ENOENT", () => Effect.succeed([]))
        )
      },
      { concurrency: 8 }
    ),
    Stream.flattenIterable,
    Stream.filter(({ key }) => isObjectKey(key))
  )

  const abort = Effect.fn("FileStorage.abort")(function* ({ id }: MultipartUpload) {
    // A join would copy its parts, and then find that the upload is gone.
    yield* FiberMap.remove(joins, id)
    yield* discard(id)
  })

  return { begin, parts, complete, abort, uploads }
})

const interrupted = new StorageUnavailableError({
  message: "Joining the parts was interrupted; complete the upload again"
})

/**
 * Flushes a file and renames it by way of the folder of its upload. Without the folder, which an abort or a completion in
 * another process may have removed, no object appears.
 */
const publishBy = Effect.fnUntraced(function* (folder: string, { handle, path }: TemporaryFile, target: string) {
  yield* attempt(() => handle.sync())
  const inside = join(folder, basename(path))
  yield* Effect.acquireUseRelease(
    attempt(() => rename(path, inside)),
    () => move(inside, target),
    () => Effect.ignore(attempt(() => rm(inside, { force: true })))
  )
})

const copy = Effect.fnUntraced(function* (path: string, to: TemporaryFile, buffer: Buffer) {
  const source = yield* openFile(path)
  for (;;) {
    const { bytesRead } = yield* attempt(() => source.read(buffer, 0, buffer.length))
    if (bytesRead === 0) return
    yield* append(to, buffer.subarray(0, bytesRead))
  }
}, Effect.scoped)
