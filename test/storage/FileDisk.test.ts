import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { failing, smallDisk, smallDiskIs } from "../support/storage/Disks.ts"
import { filesBelow } from "../support/storage/Folder.ts"
import { assertSame, contentOf, newKey, partUrl, put, send, uploaded } from "../support/storage/Parts.ts"
import { eventually } from "../support/Until.ts"
import { fileStorage, onStorage, receive } from "./PartServer.ts"

const onSmallDisk = <A, E>(test: (root: string) => Effect.Effect<A, E, Storage>) =>
  Effect.scoped(Effect.flatMap(smallDisk, (root) => Effect.provide(test(root), fileStorage(root))))

const message = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.message)

describe(`a full disk (${smallDiskIs})`, () => {
  it.live("on a full disk a part that does not fit leaves no bytes, a smaller one fits, and reads succeed", () =>
    onSmallDisk((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const before = randomBytes(100_000)
        const key = newKey()
        yield* storage.write(key, before, "text/plain")
        const upload = yield* storage.begin(newKey(), "text/plain")
        const response = yield* put(yield* partUrl(upload, 1), randomBytes(3_000_000))
        assert.deepStrictEqual(
          [response.status, yield* Effect.promise(() => response.text())],
          [503, "StorageUnavailableError"]
        )
        assert.deepStrictEqual(filesBelow(join(root, "temporary")), [])
        assert.strictEqual(
          yield* message(storage.write(newKey(), randomBytes(3_000_000), "text/plain")),
          "The disk of the files is full"
        )
        assert.deepStrictEqual(filesBelow(join(root, "temporary")), [])
        assertSame(yield* contentOf(key), before)
        const part = yield* send(upload, 1, randomBytes(1000))
        yield* storage.complete(upload, [part])
        assert.deepStrictEqual(yield* storage.size(upload.key), Option.some(1000))
      })
    )
  )

  it.live("on a full disk a failed join keeps the parts, and an abort frees their space", () =>
    onSmallDisk((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const { parts, upload } = yield* uploaded(randomBytes(700_000), randomBytes(700_000))
        assert.strictEqual(yield* message(storage.complete(upload, parts)), "The disk of the files is full")
        assert.deepStrictEqual(filesBelow(join(root, "temporary")), [])
        assert.deepStrictEqual(yield* storage.size(upload.key), Option.none())
        assert.strictEqual((yield* storage.parts(upload)).length, 2)
        yield* storage.abort(upload)
        const again = yield* uploaded(randomBytes(400_000), randomBytes(400_000))
        yield* storage.complete(again.upload, again.parts)
        assert.deepStrictEqual(yield* storage.size(again.upload.key), Option.some(800_000))
      })
    )
  )
})

describe("failing fsync", () => {
  it.live("a failing fsync acknowledges nothing, leaves no object, and operations succeed afterwards", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const one = yield* uploaded(randomBytes(10))
        const two = yield* uploaded(randomBytes(10), randomBytes(10))
        const key = newKey()
        const before = filesBelow(root)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* failing("sync", "EIO", () => true)
            for (const operation of [
              storage.begin(newKey(), "text/plain"),
              storage.write(key, randomBytes(10), "text/plain"),
              receive(two.upload.id, 3, randomBytes(10)),
              storage.complete(two.upload, two.parts),
              storage.complete(one.upload, one.parts)
            ]) {
              const reported = yield* message(operation as Effect.Effect<unknown, { readonly message: string }>)
              assert.strictEqual(reported, "The disk of the files reports an error")
            }
          })
        )
        assert.deepStrictEqual(filesBelow(root), before)
        assert.deepStrictEqual([...(yield* Stream.runCollect(storage.objects))], [])
        yield* storage.write(key, randomBytes(10), "text/plain")
        yield* storage.complete(one.upload, one.parts)
        yield* storage.complete(two.upload, two.parts)
        assert.strictEqual((yield* Stream.runCollect(storage.objects)).length, 3)
      })
    )
  )

  it.live("a write flushes the file before the rename, and the folder before it is acknowledged", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const target = join(root, "objects/ab/cd/x")
        const content = () => {
          try {
            return readFileSync(target, "utf8")
          } catch {
            return undefined
          }
        }
        const seen: Array<string | undefined> = []
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* failing("sync", "EIO", () => {
              seen.push(content())
              return false
            })
            yield* storage.write("ab/cd/x", Buffer.from("abc"), "text/plain")
          })
        )
        // Two parent folders, then the file, then the folder that contains it.
        assert.deepStrictEqual(seen, [undefined, undefined, undefined, "abc"])
      })
    )
  )

  it.live("an object whose rename could not be flushed is never acknowledged, also on retries", () =>
    onStorage(() =>
      Effect.gen(function* () {
        const storage = yield* Storage
        for (const contents of [[randomBytes(10)], [randomBytes(10), randomBytes(10)]]) {
          const { parts, upload } = yield* uploaded(...contents)
          yield* Effect.scoped(
            Effect.gen(function* () {
              let flushes = 0
              // All flushes before the rename succeed: two folders and the joined file.
              yield* failing("sync", "EIO", () => ++flushes > contents.length + 1)
              for (let times = 0; times < 3; times++) {
                const reported = yield* message(storage.complete(upload, parts))
                assert.strictEqual(reported, "The disk of the files reports an error")
              }
            })
          )
          assert.isTrue(Option.isSome(yield* storage.size(upload.key)))
          yield* storage.complete(upload, parts)
          assertSame(yield* contentOf(upload.key), Buffer.concat(contents))
        }
      })
    )
  )
})

describe("a disk that takes long to flush files", () => {
  it.live(
    "the files of one share are flushed a few at a time, and those of another share without waiting for them",
    () =>
      onStorage((root) =>
        Effect.gen(function* () {
          const storage = yield* Storage
          const flushed = Promise.withResolvers<void>()
          let flushing = 0
          yield* failing("sync", "EIO", async (handle) => {
            if ((await handle.stat()).size !== 777) return false
            flushing++
            await flushed.promise
            return false
          })
          const write = (id: string, size: number) =>
            Effect.provideService(storage.write(newKey(), randomBytes(size), "text/plain"), CurrentShare, {
              id,
              weight: 1,
              isAlone: () => false
            })
          const busy = yield* Effect.forkScoped(
            Effect.replicateEffect(write("busy", 777), 20, { concurrency: "unbounded", discard: true })
          )
          // Before the writes are interrupted: none of them ends while its flush lasts.
          yield* Effect.addFinalizer(() => Effect.sync(() => flushed.resolve()))
          const temporary = join(root, "temporary")
          yield* eventually(
            "the bytes of all files are written",
            Effect.sync(() => filesBelow(temporary).filter((name) => statSync(join(temporary, name)).size === 777)),
            (written) => written.length === 20
          )
          yield* write("calm", 10)
          assert.isBelow(flushing, 20)
          flushed.resolve()
          yield* Fiber.join(busy)
          assert.strictEqual(flushing, 20)
        }).pipe(Effect.scoped)
      )
  )
})
