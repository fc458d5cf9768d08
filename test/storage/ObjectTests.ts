import { assert } from "@effect/vitest"
import { Effect, Exit, Option, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Storage } from "../../src/storage/Storage.ts"
import { temporaryFolder } from "../support/storage/Folder.ts"
import { assertSame, contentOf, failure, newKey } from "../support/storage/Parts.ts"
import type { Register } from "./Register.ts"

/** Tests of objects for every storage. */
export const objectTests = (register: Register) => {
  register("reports its bucket", "check succeeds", () => Effect.flatMap(Storage, (storage) => storage.check))

  register("always", "an object can be read completely, by range, and has its size", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const key = newKey("thumbnail_")
      const bytes = randomBytes(300_000)
      yield* storage.write(key, bytes, "image/webp")
      assert.deepStrictEqual(yield* storage.size(key), Option.some(bytes.length))
      assertSame(yield* contentOf(key), bytes)
      for (const [offset, length] of [
        [0, 2],
        [0, 300_000],
        [0, 1_000_000],
        [299_999, 1],
        [100_000, 100_000],
        [299_990, 100],
        [262_143, 2]
      ] as const) {
        assertSame(yield* contentOf(key, { offset, length }), bytes.subarray(offset, offset + length))
      }
      assertSame(yield* contentOf(key, { offset: 250_000 }), bytes.subarray(250_000))
      assertSame(yield* contentOf(key, { offset: 0 }), bytes)
      assertSame(yield* contentOf(key, { offset: 300_000 }), new Uint8Array())
      assertSame(yield* contentOf(key, { offset: 400_000, length: 10 }), new Uint8Array())
      assertSame(yield* contentOf(key, { offset: 10, length: 0 }), new Uint8Array())
    })
  )

  register("always", "a local file can be written, in parts if it is large, and written again", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const path = join(yield* temporaryFolder, "file")
      for (const size of [0, 1000, 5 * 1024 ** 2 + 1, 11 * 1024 ** 2]) {
        const key = newKey()
        const bytes = randomBytes(size)
        writeFileSync(path, bytes)
        yield* storage.writeFile(key, path, "image/png")
        yield* storage.writeFile(key, path, "image/png")
        assertSame(yield* contentOf(key), bytes)
      }
      assert.strictEqual(
        yield* failure(storage.writeFile(newKey(), `${path}-missing`, "image/png")),
        "StorageUnavailableError"
      )
    }).pipe(Effect.scoped)
  )

  register("supports one-byte ranges", "a single byte can be read", () =>
    Effect.gen(function* () {
      const key = newKey()
      yield* (yield* Storage).write(key, Buffer.from("abc"), "text/plain")
      assertSame(yield* contentOf(key, { offset: 0, length: 1 }), Buffer.from("a"))
      assertSame(yield* contentOf(key, { offset: 2, length: 1 }), Buffer.from("c"))
    })
  )

  register("always", "an empty object can be stored", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const key = newKey()
      yield* storage.write(key, new Uint8Array(), "text/plain")
      assert.deepStrictEqual(yield* storage.size(key), Option.some(0))
      assertSame(yield* contentOf(key), new Uint8Array())
    })
  )

  register("reports its bucket", "a missing object has no size, and reading it fails", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const key = newKey()
      assert.deepStrictEqual(yield* storage.size(key), Option.none())
      assert.strictEqual(yield* failure(contentOf(key)), "StorageUnavailableError")
      assert.strictEqual(yield* failure(contentOf(key, { offset: 3, length: 2 })), "StorageUnavailableError")
      assert.strictEqual(yield* failure(Effect.scoped(storage.localFile(key))), "StorageUnavailableError")
      yield* storage.remove(key)
    })
  )

  register("reports its bucket", "removing an object is idempotent", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const key = newKey()
      yield* storage.write(key, randomBytes(10), "text/plain")
      yield* storage.remove(key)
      yield* storage.remove(key)
      assert.deepStrictEqual(yield* storage.size(key), Option.none())
    })
  )

  register("always", "an object is available as a local file", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const key = newKey()
      const bytes = randomBytes(200_000)
      yield* storage.write(key, bytes, "application/pdf")
      const content = Effect.map(storage.localFile(key), (path) => readFileSync(path))
      assertSame(yield* Effect.scoped(content), bytes)
    })
  )

  register("reports its bucket", "objects are listed with size and time, over several pages", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const before = Date.now() - 2000
      const keys = Array.from({ length: 7 }, () => newKey("preview_"))
      yield* Effect.forEach(keys, (key, index) => storage.write(key, randomBytes(index), "image/webp"))
      const listed = yield* Stream.runCollect(storage.objects)
      for (const [index, key] of keys.entries()) {
        const found = listed.filter((object) => object.key === key)
        assert.deepStrictEqual([key, found.length, found[0]?.size], [key, 1, index])
        assert.isTrue(found[0]!.modifiedAt >= before && found[0]!.modifiedAt <= Date.now() + 2000)
      }
    })
  )

  register("always", "keys in another format are rejected", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      for (const key of [
        "",
        "a",
        "../../etc/passwd",
        "ab/cd/../x",
        "ab/cd/.x",
        "ab/cd/",
        "/ab/cd/x",
        "AB/cd/x",
        "ab/cd/x\u0000",
        "ab/cd/x\n"
      ]) {
        for (const operation of [
          storage.begin(key, "text/plain"),
          storage.write(key, new Uint8Array(1), "text/plain"),
          storage.writeFile(key, "/dev/null", "text/plain"),
          storage.size(key),
          Effect.scoped(storage.localFile(key)),
          storage.remove(key),
          Stream.runDrain(storage.read(key)),
          storage.complete({ key, id: "c0000000-0000-4000-8000-000000000000" }, [{ partNumber: 1, eTag: "a" }])
        ]) {
          assert.isTrue(
            Exit.hasDies(yield* Effect.exit(operation as Effect.Effect<unknown, unknown>)),
            JSON.stringify(key)
          )
        }
      }
    })
  )
}
