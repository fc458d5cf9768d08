import { Effect, Exit, Fiber, FiberMap, Option, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHash } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { isUuid } from "../domain/schema/Fields.ts"
import {
  append,
  attempt,
  flush,
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

  /**
   * Renames the upload in one step, then removes it; the removal waits for parts that are being received. `isUsed` checks
   * the renamed folder, in which no part can appear any more; if it is true or fails, the upload gets its name again.
   */
  const discard = Effect.fnUntraced(function* (
    id: string,
    isUsed: (folder: string) => Effect.Effect<boolean, StorageUnavailableError> = () => Effect.succeed(false)
  ) {
    const folder = uploadFolder(layout, id)
    if (folder === undefined) return
    const remains = join(layout.temporary, SecureRandom.uuidV4Unsafe())
    const isRemoved = yield* Effect.gen(function* () {
      yield* attempt(() => rename(folder, remains))
      if (!(yield* Effect.orElseSucceed(isUsed(remains), () => true))) return true
      yield* move(remains, folder)
      return false
    }).pipe(
      Effect.uninterruptible,
      orOn("ENOENT", () => Effect.succeed(false))
    )
    if (isRemoved) yield* attempt(() => rm(remains, { recursive: true, force: true, maxRetries: 5, retryDelay: 10 }))
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
        yield* publishBy(folder, file, target, files)
      }
      // A part that was sent again since is not in the object. It can still be completed with its new tag. The first check
      // keeps the upload in its place; the second one includes the parts that appear until the upload is renamed.
      const isReplaced = (folder: string) => PartFiles.areReplaced(folder, files)
      if (!(yield* isReplaced(folder))) yield* discard(id, isReplaced)
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
      const names = namesIn(parts)
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
          return yield* discard(upload.id, PartFiles.areAny)
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

const namesIn = (parts: ReadonlyArray<ListedPart>) =>
  parts.map(({ eTag, partNumber }) => `${partNumber}-${eTag}`).join()

const joined = "joined-"

/**
 * Flushes the joined parts and renames them by way of the folder of the upload. Without the folder, which an abort or a
 * completion in another process may have removed, no object appears. Parts that were sent again do not replace the object
 * of newer ones: a join that is in the folder first is removed by the join of the newer parts, a later one fails the check.
 */
const publishBy = Effect.fnUntraced(function* (
  folder: string,
  { handle, path }: TemporaryFile,
  target: string,
  parts: ReadonlyArray<ListedPart>
) {
  yield* flush(handle)
  const prefix = `${joined}${createHash("md5").update(namesIn(parts)).digest("hex")}-`
  const inside = join(folder, `${prefix}${basename(path)}`)
  yield* Effect.acquireUseRelease(
    attempt(() => rename(path, inside)),
    Effect.fnUntraced(function* () {
      // Listed before the check: a join of newer parts that is in the list ends this one there.
      const names = yield* attempt(() => readdir(folder))
      yield* PartFiles.checkNewest(folder, parts)
      const others = names.filter((name) => name.startsWith(joined) && !name.startsWith(prefix))
      yield* Effect.forEach(others, (name) => attempt(() => rm(join(folder, name), { force: true })), { discard: true })
      yield* move(inside, target)
    }),
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
