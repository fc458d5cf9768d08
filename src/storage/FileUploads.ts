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
  const joins = yield* FiberMap.make<string, void, JoinError>()
  /** The parts that the caller of a join named. */
  const namesOf = new WeakMap<Fiber.Fiber<void, JoinError>, string>()

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

  const partsOf = Effect.fn("FileStorage.parts")(function* ({ id }: MultipartUpload) {
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
  const joinParts = Effect.fnUntraced(
    function* ({ id, key }: MultipartUpload, parts: ReadonlyArray<ListedPart>) {
      const folder = uploadFolder(layout, id)
      if (folder === undefined) return yield* unknownUpload
      const target = join(layout.objects, key)
      const files = yield* PartFiles.locate(folder, parts)
      yield* makeFolders(layout.objects, foldersOf(key))
      if (files.length === 1) yield* move(files[0]!.path, target)
      else {
        const file = yield* temporaryFile(layout.temporary)
        const buffer = Buffer.allocUnsafe(1024 * 1024)
        for (const { path } of files) yield* copy(path, file, buffer)
        yield* publishBy(folder, file, target)
      }
      // A part that was sent again during the join is not in the object. It can still be completed with its new tag.
      if (!(yield* PartFiles.areReplaced(folder, files))) yield* discard(id)
    },
    Effect.scoped,
    orOn("ENOENT", () => Effect.fail(unknownUpload))
  )

  /** The running join of these parts, or a new one. A join of other parts ends first: the parts that were named last count. */
  const joinOf = (
    upload: MultipartUpload,
    parts: ReadonlyArray<ListedPart>
  ): Effect.Effect<Fiber.Fiber<void, JoinError>> =>
    Effect.suspend(() => {
      const names = parts.map(({ eTag, partNumber }) => `${partNumber}-${eTag}`).join()
      const running = FiberMap.getUnsafe(joins, upload.id)
      if (Option.isNone(running)) {
        return Effect.tap(FiberMap.run(joins, upload.id, joinParts(upload, parts)), (fiber) =>
          Effect.sync(() => namesOf.set(fiber, names))
        )
      }
      return namesOf.get(running.value) === names
        ? Effect.succeed(running.value)
        : Effect.andThen(FiberMap.remove(joins, upload.id), joinOf(upload, parts))
    })

  const complete = Effect.fn("FileStorage.complete")(function* (
    upload: MultipartUpload,
    parts: ReadonlyArray<ListedPart>
  ) {
    const isThere = Effect.map(sizeOf(yield* objectKey(upload.key)), Option.isSome)
    yield* checkParts(parts)
    // Joining gigabytes can outlast the request. It continues, and a repeated request waits for it.
    yield* Fiber.await(yield* joinOf(upload, parts)).pipe(
      Effect.flatMap((exit) => (Exit.hasInterrupts(exit) ? Effect.fail(interrupted) : exit)),
      // An earlier join, or one of another process, may have consumed the parts and made the object.
      Effect.catchTag(
        "InvalidPartsError",
        Effect.fnUntraced(function* (error: InvalidPartsError) {
          if (!(yield* isThere) || (yield* partsOf(upload)).length > 0) return yield* error
          // The process that made it may have crashed after the rename and before the flush.
          yield* syncFolder(yield* makeFolders(layout.objects, foldersOf(upload.key)))
          return yield* discard(upload.id)
        })
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

  return { begin, parts: partsOf, complete, abort, uploads }
})

type JoinError = StorageUnavailableError | InvalidPartsError

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
