import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, promises, rmSync, utimesSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { layoutOf } from "../../src/storage/FileLayout.ts"
import * as FileParts from "../../src/storage/FileParts.ts"
import * as PartFiles from "../../src/storage/PartFiles.ts"
import { type MultipartUpload, Storage } from "../../src/storage/Storage.ts"
import { failing } from "../support/storage/Disks.ts"
import { filesBelow } from "../support/storage/Folder.ts"
import { assertSame, contentOf, failure, md5, newKey } from "../support/storage/Parts.ts"
import { eventually } from "../support/Until.ts"
import { fileStorage, onStorage, receive, secret } from "./PartServer.ts"

/** Two parts; the sizes of other files and of folders differ from their sum. */
const bothParts = [randomBytes(10_000), randomBytes(2345)] as const

/** Runs an effect once, when a join has copied all bytes of `bothParts` and not made the object. */
const duringJoin = <A, E>(effect: Effect.Effect<A, E>) => {
  let isOver = false
  return failing("sync", "EIO", async (handle) => {
    if (isOver || (await handle.stat()).size !== 12_345) return false
    isOver = true
    await Effect.runPromise(effect)
    return false
  })
}

const duringCopyOf = <A, E>(_root: string, _upload: MultipartUpload, effect: Effect.Effect<A, E>) => duringJoin(effect)

/** Runs an effect once, when the object of an upload is in its place and its folder is not flushed. */
const beforeFlushOf = <A, E>(root: string, { key }: MultipartUpload, effect: Effect.Effect<A, E>) => {
  let isOver = false
  return failing("sync", "EIO", async (handle) => {
    if (isOver || !(await handle.stat()).isDirectory() || !existsSync(join(root, "objects", key))) return false
    isOver = true
    await Effect.runPromise(effect)
    return false
  })
}

/** Runs an effect once, just before the first rename that `isIt` selects. */
const beforeRename = <A, E>(isIt: (from: string, to: string) => boolean, effect: Effect.Effect<A, E>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { rename } = promises
      const restore = () => {
        promises.rename = rename
        syncBuiltinESMExports()
      }
      promises.rename = async (from, to) => {
        if (isIt(String(from), String(to))) {
          restore()
          await Effect.runPromise(effect)
        }
        return rename(from, to)
      }
      syncBuiltinESMExports()
      return restore
    }),
    (restore) => Effect.sync(restore)
  )

/** Runs an effect once, just before the folder of an upload is renamed to be removed. */
const beforeRemovalOf = <A, E>(root: string, { id }: MultipartUpload, effect: Effect.Effect<A, E>) =>
  beforeRename((from) => from.endsWith(join(root, "uploads", id)), effect)

/** Runs an effect once, just before the joined parts become the object of an upload. */
const beforeObjectOf = <A, E>(root: string, { key }: MultipartUpload, effect: Effect.Effect<A, E>) =>
  beforeRename((_, to) => to.endsWith(join(root, "objects", key)), effect)

/** An upload with both parts; `sendAgain` sends other bytes of the second one and returns the parts to name then. */
const twoParts = Effect.gen(function* () {
  const parts = yield* FileParts.FileParts
  const upload = yield* (yield* Storage).begin(newKey(), "text/plain")
  const send = (partNumber: number, bytes: Uint8Array) =>
    Effect.map(parts.receive({ uploadId: upload.id, partNumber, maxSize: 1e9 }, Stream.make(bytes)), ({ eTag }) => ({
      partNumber,
      eTag
    }))
  const one = yield* send(1, bothParts[0])
  const two = yield* send(2, bothParts[1])
  const again = randomBytes(bothParts[1].length)
  return {
    upload,
    parts: [one, two],
    content: Buffer.concat(bothParts),
    sendAgain: Effect.map(send(2, again), (part) => [one, part]),
    newContent: Buffer.concat([bothParts[0], again])
  }
})

/** The storage of another process in the same folder. */
const otherProcess = (root: string) =>
  Effect.map(Layer.build(fileStorage(root)), (context) => Context.get(context, Storage))

describe("concurrent operations of FileStorage", () => {
  it.live("of twenty concurrent copies of a part one is kept, and its ETag completes the upload", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        for (let round = 0; round < 5; round++) {
          const upload = yield* storage.begin(newKey(), "text/plain")
          const contents = Array.from({ length: 20 }, () => randomBytes(1000))
          yield* Effect.forEach(contents, (bytes) => receive(upload.id, 1, bytes), { concurrency: "unbounded" })
          const [kept, ...others] = yield* storage.parts(upload)
          assert.deepStrictEqual(others, [])
          assert.strictEqual(filesBelow(join(root, "uploads", upload.id)).length, 2)
          yield* storage.complete(upload, [kept!])
          assert.strictEqual(md5(yield* contentOf(upload.key)), kept!.eTag)
        }
      })
    )
  )

  it.live("parts that end at the same time in two processes store at most twice the size of the file", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const processes = [secret, secret].map((secret) => FileParts.make(layoutOf(root), secret))
        const maxSize = 1000
        for (let round = 0; round < 100; round++) {
          const upload = yield* storage.begin(newKey(), "text/plain")
          const outcomes = yield* Effect.forEach(
            Array.from({ length: 10 }, (_, index) => index + 1),
            (partNumber) => {
              const grant = { uploadId: upload.id, partNumber, maxSize }
              const bytes = Stream.make(randomBytes(400))
              return Effect.match(processes[partNumber % 2]!.receive(grant, bytes), {
                onSuccess: () => "kept",
                onFailure: ({ _tag }) => _tag
              })
            },
            { concurrency: "unbounded" }
          )
          const parts = yield* storage.parts(upload)
          assert.isAtMost(parts.length * 400, 2 * maxSize)
          assert.strictEqual(parts.length, outcomes.filter((outcome) => outcome === "kept").length)
          assert.isTrue(outcomes.every((outcome) => outcome === "kept" || outcome === "PayloadTooLargeError"))
          assert.strictEqual(filesBelow(join(root, "uploads", upload.id)).length, 1 + parts.length)
          assert.deepStrictEqual(filesBelow(join(root, "temporary")), [])
          yield* storage.abort(upload)
        }
      })
    )
  )

  it.live("an abort concurrent with parts leaves no files", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const parts = yield* FileParts.FileParts
        const endings = new Set<string>()
        for (let round = 0; round < 30; round++) {
          const upload = yield* storage.begin(newKey(), "text/plain")
          const sending = yield* Effect.forEach([1, 2, 3, 4], (partNumber) => {
            const slow = Stream.tap(Stream.fromIterable(Array.from({ length: 4 }, () => randomBytes(100))), () =>
              Effect.sleep(`${round % 4} millis`)
            )
            const grant = { uploadId: upload.id, partNumber, maxSize: 1000 }
            return Effect.forkChild(
              Effect.match(parts.receive(grant, slow), { onSuccess: () => "kept", onFailure: ({ _tag }) => _tag })
            )
          })
          yield* Effect.sleep(`${round / 3} millis`)
          yield* storage.abort(upload)
          for (const fiber of sending) endings.add(yield* Fiber.join(fiber))
          assert.deepStrictEqual(filesBelow(root), [])
        }
        assert.isTrue(endings.has("FileNotFoundError"), "no part met an abort")
        assert.deepStrictEqual(
          [...endings].filter((ending) => ending !== "kept" && ending !== "FileNotFoundError"),
          []
        )
      })
    )
  )

  it.live("a join continues when its caller is interrupted, and the next caller gets its object", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const contents = [randomBytes(8_000_000), randomBytes(8_000_000)]
        const upload = yield* storage.begin(newKey(), "text/plain")
        const parts = yield* Effect.forEach(contents, (bytes, index) =>
          Effect.map(receive(upload.id, index + 1, bytes), ({ eTag }) => ({ partNumber: index + 1, eTag }))
        )
        const fiber = yield* Effect.forkChild(storage.complete(upload, parts), { startImmediately: true })
        const hasBegun = () => filesBelow(join(root, "temporary")).length > 0 || fiber.pollUnsafe() !== undefined
        while (!hasBegun()) yield* Effect.sleep(0)
        yield* Fiber.interrupt(fiber)
        yield* eventually("the object is made", storage.size(upload.key), Option.isSome)
        assertSame(yield* contentOf(upload.key), Buffer.concat(contents))
        yield* storage.complete(upload, parts)
      })
    )
  )

  it.live("an abort cancels a running join, and no object is created", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const upload = yield* storage.begin(newKey(), "text/plain")
        const parts = yield* Effect.forEach([1, 2, 3, 4], (partNumber) =>
          Effect.map(receive(upload.id, partNumber, randomBytes(8_000_000)), ({ eTag }) => ({ partNumber, eTag }))
        )
        const fiber = yield* Effect.forkChild(failure(storage.complete(upload, parts)), { startImmediately: true })
        while (filesBelow(join(root, "temporary")).length === 0) yield* Effect.sleep(0)
        yield* storage.abort(upload)
        assert.strictEqual(yield* Fiber.join(fiber), "StorageUnavailableError")
        assert.deepStrictEqual(filesBelow(root), [])
      })
    )
  )

  it.live("an upload that another process aborts while its parts are joined gets no object", () =>
    onStorage((root) =>
      Effect.scoped(
        Effect.gen(function* () {
          const storage = yield* Storage
          const other = yield* otherProcess(root)
          const { parts, upload } = yield* twoParts
          yield* duringJoin(Effect.andThen(other.abort(upload), other.remove(upload.key)))
          assert.strictEqual(yield* failure(storage.complete(upload, parts)), "InvalidPartsError")
          assert.deepStrictEqual(filesBelow(root), [])
        })
      )
    )
  )

  it.live("a completion that names a part sent again during a join gets that part, and the join ends", () =>
    onStorage(() =>
      Effect.scoped(
        Effect.gen(function* () {
          const storage = yield* Storage
          const { newContent, parts, sendAgain, upload } = yield* twoParts
          let second: Promise<void> | undefined
          yield* duringJoin(
            Effect.map(sendAgain, (named) => {
              second = Effect.runPromise(storage.complete(upload, named))
            })
          )
          assert.strictEqual(yield* failure(storage.complete(upload, parts)), "StorageUnavailableError")
          yield* Effect.promise(() => second!)
          assertSame(yield* contentOf(upload.key), newContent)
          assert.deepStrictEqual([...(yield* Stream.runCollect(storage.uploads))], [])
        })
      )
    )
  )

  it.live(
    "a join makes no object when one of its parts is sent again, which can then be completed with its new tag",
    () =>
      onStorage((root) =>
        Effect.scoped(
          Effect.gen(function* () {
            const storage = yield* Storage
            const { newContent, parts, sendAgain, upload } = yield* twoParts
            let named = parts
            yield* duringJoin(Effect.map(sendAgain, (again) => void (named = again)))
            assert.strictEqual(yield* failure(storage.complete(upload, parts)), "InvalidPartsError")
            assert.isTrue(Option.isNone(yield* storage.size(upload.key)))
            yield* storage.complete(upload, named)
            assertSame(yield* contentOf(upload.key), newContent)
            assert.strictEqual(filesBelow(root).length, 1)
          })
        )
      )
  )

  for (const [moment, before] of [
    ["has made the object", beforeFlushOf],
    ["removes the upload", beforeRemovalOf]
  ] as const) {
    it.live(`a part that is sent again when its join ${moment} can still be completed with its new tag`, () =>
      onStorage((root) =>
        Effect.scoped(
          Effect.gen(function* () {
            const storage = yield* Storage
            const { content, newContent, parts, sendAgain, upload } = yield* twoParts
            let named = parts
            yield* before(
              root,
              upload,
              Effect.map(sendAgain, (again) => void (named = again))
            )
            yield* storage.complete(upload, parts)
            assertSame(yield* contentOf(upload.key), content)
            assert.notStrictEqual(named, parts)
            assert.strictEqual(yield* failure(storage.complete(upload, parts)), "InvalidPartsError")
            yield* storage.complete(upload, named)
            assertSame(yield* contentOf(upload.key), newContent)
            assert.strictEqual(filesBelow(root).length, 1)
          })
        )
      )
    )
  }

  it.live("a part that is sent again when a repeated completion removes the upload is not lost", () =>
    onStorage((root) =>
      Effect.scoped(
        Effect.gen(function* () {
          const storage = yield* Storage
          const { newContent, parts, sendAgain, upload } = yield* twoParts
          // As after a crash between the object and the removal of its only part.
          for (const { path } of yield* PartFiles.locate(join(root, "uploads", upload.id), parts)) rmSync(path)
          yield* storage.write(upload.key, newContent, "text/plain")
          yield* beforeRemovalOf(root, upload, sendAgain)
          yield* storage.complete(upload, parts)
          assert.deepStrictEqual(
            (yield* storage.parts(upload)).map(({ partNumber }) => partNumber),
            [2]
          )
        })
      )
    )
  )

  for (const [moment, before] of [
    ["has copied its parts", duringCopyOf],
    ["makes its object", beforeObjectOf]
  ] as const) {
    it.live(`a join that ${moment} does not replace the object that another process has made of parts sent again`, () =>
      onStorage((root) =>
        Effect.scoped(
          Effect.gen(function* () {
            const storage = yield* Storage
            const other = yield* otherProcess(root)
            const { newContent, parts, sendAgain, upload } = yield* twoParts
            const made = Promise.withResolvers<void>()
            const late = Promise.withResolvers<void>()
            let second: Promise<void> | undefined
            yield* before(
              root,
              upload,
              Effect.flatMap(sendAgain, (named) => {
                second = Effect.runPromise(other.complete(upload, named))
                return Effect.promise(() => Promise.race([made.promise, second!]))
              })
            )
            yield* beforeFlushOf(
              root,
              upload,
              Effect.promise(() => {
                made.resolve()
                return late.promise
              })
            )
            const first = yield* Effect.exit(storage.complete(upload, parts))
            late.resolve()
            yield* Effect.promise(() => second!)
            assertSame(yield* contentOf(upload.key), newContent)
            assert.isTrue(Exit.isFailure(first))
            assert.strictEqual(filesBelow(root).length, 1)
          })
        )
      )
    )
  }

  it.live("a join that ends late does not replace what another process has completed since", () =>
    onStorage((root) =>
      Effect.scoped(
        Effect.gen(function* () {
          const storage = yield* Storage
          const other = yield* otherProcess(root)
          const { newContent, parts, sendAgain, upload } = yield* twoParts
          yield* duringJoin(Effect.flatMap(sendAgain, (named) => other.complete(upload, named)))
          yield* Effect.exit(storage.complete(upload, parts))
          assertSame(yield* contentOf(upload.key), newContent)
          assert.strictEqual(filesBelow(root).length, 1)
        })
      )
    )
  )

  it.live("the time of an object is that of its completion, not of its parts", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const upload = yield* storage.begin(newKey(), "text/plain")
        const part = { ...(yield* receive(upload.id, 1, randomBytes(10))), partNumber: 1 }
        const [file] = yield* PartFiles.locate(join(root, "uploads", upload.id), [part])
        utimesSync(file!.path, 1000, 1000)
        const before = Date.now() - 1000
        yield* storage.complete(upload, [part])
        const [object] = yield* Stream.runCollect(storage.objects)
        assert.isAtLeast(object!.modifiedAt, before)
      })
    )
  )
})
