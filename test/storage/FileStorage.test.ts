import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { promises, renameSync, statSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { FileParts } from "../../src/storage/FileParts.ts"
import * as PartFiles from "../../src/storage/PartFiles.ts"
import * as PartUrl from "../../src/storage/PartUrl.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { filesBelow, temporaryFolder } from "../support/storage/Folder.ts"
import { assertSame, contentOf, failure, md5, newKey, partUrl, put, uploaded } from "../support/storage/Parts.ts"
import { fileStorage, onStorage, receive, secret } from "./PartServer.ts"
import { suite } from "./Suite.ts"

suite("FileStorage", Layer.unwrap(Effect.map(temporaryFolder, fileStorage)))

/** The paths of files and folders whose properties are read until the scope ends. */
const lookedAt = Effect.gen(function* () {
  const paths: Array<string> = []
  const { stat } = promises
  const use = (used: typeof stat) => {
    promises.stat = used
    syncBuiltinESMExports()
  }
  const counting = (path: string) => {
    paths.push(path)
    return stat(path)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => use(counting as typeof stat)),
    () => Effect.sync(() => use(stat))
  )
  return paths
})

/** The path of a part, with the name that an earlier version gave it. */
const withoutSize = (path: string) =>
  path.replace(/-8([0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{4})[0-9a-f]{8}(-[0-9a-f]{32})$/, "-7$1ffffffff$2")

const invalidIds = [
  "",
  ".",
  "..",
  "../../outside",
  "..%2f..%2foutside",
  "/etc/passwd",
  "a\u0000b",
  "CON",
  "\u202Egpj.exe",
  "x".repeat(400),
  "c0000000-0000-4000-8000-00000000000g",
  "C0000000-0000-4000-8000-000000000000",
  "c0000000-0000-4000-8000-000000000000/",
  "c0000000-0000-4000-8000-000000000000\n",
  "../uploads/c0000000-0000-4000-8000-000000000000"
]

describe("FileStorage", () => {
  it.live("the folder is named when it cannot be used", () =>
    Effect.gen(function* () {
      const root = join(yield* temporaryFolder, "files")
      writeFileSync(root, "")
      for (const folder of [root, join(root, "below")]) {
        const error = yield* Effect.flip(Layer.build(fileStorage(folder)))
        assert.strictEqual(error.message, `There is a file where the folder of the files should be: ${folder}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("the parts of an upload take at most twice the size of the file", () =>
    onStorage(() =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const upload = yield* storage.begin(newKey(), "text/plain")
        const sent = (partNumber: number, size: number) =>
          Effect.flatMap(partUrl(upload, partNumber, { maxSize: 100 }), (url) => put(url, randomBytes(size)))
        const statuses = yield* Effect.forEach(
          [
            [1, 100],
            [2, 100],
            [3, 1],
            // Replaces the earlier part 2.
            [2, 60],
            [3, 40],
            [4, 1]
          ] as const,
          ([partNumber, size]) => Effect.map(sent(partNumber, size), ({ status }) => status)
        )
        assert.deepStrictEqual(statuses, [200, 200, 413, 200, 200, 413])
        const parts = yield* storage.parts(upload)
        assert.deepStrictEqual(
          parts.map(({ partNumber, size }) => [partNumber, size]),
          [
            [1, 100],
            [2, 60],
            [3, 40]
          ]
        )
      })
    )
  )

  it.live("the parts of an upload are counted and listed without a look at each of their files", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const { upload } = yield* uploaded(...Array.from({ length: 20 }, () => randomBytes(10)))
        const paths = yield* lookedAt
        assert.strictEqual((yield* put(yield* partUrl(upload, 21), randomBytes(10))).status, 200)
        assert.strictEqual((yield* storage.parts(upload)).length, 21)
        const folder = join(root, "uploads", upload.id)
        const inUpload = () => paths.filter((path) => path.startsWith(folder))
        assert.deepStrictEqual(inUpload(), [])
        const [part] = yield* PartFiles.locate(folder, (yield* storage.parts(upload)).slice(0, 1))
        renameSync(part!.path, withoutSize(part!.path))
        yield* storage.parts(upload)
        assert.deepStrictEqual(inUpload(), [withoutSize(part!.path)])
      }).pipe(Effect.scoped)
    )
  )

  it.live(
    "parts of nodes of an earlier version, whose names have no size, are counted, listed, replaced and joined",
    () =>
      onStorage((root) =>
        Effect.gen(function* () {
          const storage = yield* Storage
          const contents = [randomBytes(100), randomBytes(30)]
          const { parts, upload } = yield* uploaded(...contents)
          for (const { path } of yield* PartFiles.locate(join(root, "uploads", upload.id), parts)) {
            const earlier = withoutSize(path)
            // The form of the names that these nodes read.
            for (const name of [path, earlier]) assert.match(name, /\/[1-9]\d{0,4}-[0-9a-f-]{36}-[0-9a-f]{32}$/)
            assert.notStrictEqual(earlier, path)
            renameSync(path, earlier)
          }
          const statusOf = (partNumber: number, bytes: Uint8Array) =>
            Effect.flatMap(partUrl(upload, partNumber, { maxSize: 100 }), (url) =>
              Effect.map(put(url, bytes), ({ status }) => status)
            )
          assert.strictEqual(yield* statusOf(3, randomBytes(71)), 413)
          const sizes = Effect.map(storage.parts(upload), (parts) => parts.map(({ size }) => size))
          assert.deepStrictEqual(yield* sizes, [100, 30])
          const again = randomBytes(50)
          assert.strictEqual(yield* statusOf(2, again), 200)
          assert.deepStrictEqual(yield* sizes, [100, 50])
          yield* storage.complete(upload, [parts[0]!, { partNumber: 2, eTag: md5(again) }])
          assertSame(yield* contentOf(upload.key), Buffer.concat([contents[0]!, again]))
        })
      )
  )

  it.live("objects and parts have generated names and are accessible only to the owner", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const { parts, upload } = yield* uploaded(randomBytes(10))
        yield* (yield* Storage).write("ab/cd/thumbnail_x", randomBytes(10), "image/webp")
        const part = (yield* PartFiles.locate(join(root, "uploads", upload.id), parts))[0]!.path.slice(root.length + 1)
        assert.deepStrictEqual(filesBelow(root), ["objects/ab/cd/thumbnail_x", part, `uploads/${upload.id}/key`])
        for (const file of filesBelow(root)) assert.strictEqual(statSync(join(root, file)).mode & 0o777, 0o600)
        for (const folder of [".", "objects", "objects/ab", "objects/ab/cd", `uploads/${upload.id}`, "temporary"]) {
          assert.strictEqual(statSync(join(root, folder)).mode & 0o777, 0o700, folder)
        }
      })
    )
  )

  it.live("the local file of an object is the object itself", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* storage.write("ab/cd/x", Buffer.from("abc"), "text/plain")
        assert.strictEqual(yield* Effect.scoped(storage.localFile("ab/cd/x")), join(root, "objects/ab/cd/x"))
      })
    )
  )

  it.live("invalid upload ids and part numbers are rejected without disk access", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const parts = yield* FileParts
        const { upload } = yield* uploaded(randomBytes(10))
        const before = filesBelow(join(root, ".."))
        for (const id of invalidIds) {
          const grant = { uploadId: id, partNumber: 1, maxSize: 100 }
          const signed = PartUrl.signed(secret, grant, 9_999_999_999)
          assert.strictEqual(yield* failure(parts.verify(signed)), "InvalidAddressError")
          assert.strictEqual(yield* failure(receive(id, 1, randomBytes(1))), "FileNotFoundError")
          const unknown = { key: newKey(), id }
          assert.deepStrictEqual([...(yield* storage.parts(unknown))], [])
          assert.strictEqual(
            yield* failure(storage.complete(unknown, [{ partNumber: 1, eTag: md5(Buffer.of()) }])),
            "InvalidPartsError"
          )
          yield* storage.abort(unknown)
        }
        for (const partNumber of [0, -1, 1.5, 10_001, Number.NaN, Number.POSITIVE_INFINITY, 1e21]) {
          const signed = PartUrl.signed(secret, { uploadId: upload.id, partNumber, maxSize: 100 }, 9_999_999_999)
          assert.strictEqual(yield* failure(parts.verify(signed)), "InvalidAddressError")
          assert.strictEqual(yield* failure(receive(upload.id, partNumber, randomBytes(1))), "FileNotFoundError")
        }
        for (const name of invalidIds) {
          const list = [{ partNumber: 1, eTag: name }]
          assert.strictEqual(yield* failure(storage.complete(upload, list)), "InvalidPartsError")
        }
        assert.deepStrictEqual(filesBelow(join(root, "..")), before)
      })
    )
  )

  it.live("an altered part URL is rejected", () =>
    onStorage(() =>
      Effect.gen(function* () {
        const parts = yield* FileParts
        const upload = yield* (yield* Storage).begin(newKey(), "text/plain")
        const url = new URL(yield* partUrl(upload, 7, { maxSize: 500 }))
        const path = url.pathname + url.search
        assert.deepStrictEqual(yield* parts.verify(path), { uploadId: upload.id, partNumber: 7, maxSize: 500 })
        const other = Redacted.make("another secret")
        for (const wrong of [
          "",
          "/",
          `/v1${path}`,
          `/.${path}`,
          `${path}&a=b`,
          path.replace("/7?", "/07?"),
          path.replace("/7?", "/7/?"),
          path.replace("max=500", "max=5000"),
          path.replace("max=500", "max=500&max=5000"),
          path.replace("max=500", "max=+500"),
          path.replace("expires=", "expires=0"),
          path.replace(/signature=.*/, ""),
          path.replace(/signature=.*/, "signature="),
          PartUrl.signed(other, { uploadId: upload.id, partNumber: 7, maxSize: 500 }, 9_999_999_999)
        ]) {
          assert.strictEqual(yield* failure(parts.verify(wrong)), "InvalidAddressError", wrong)
        }
      })
    )
  )

  it.live("a part that is too large or interrupted leaves no bytes", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const parts = yield* FileParts
        const upload = yield* (yield* Storage).begin(newKey(), "text/plain")
        const exact = yield* put(yield* partUrl(upload, 1, { maxSize: 1000 }), randomBytes(1000))
        assert.strictEqual(exact.status, 200)
        const large = yield* put(yield* partUrl(upload, 2, { maxSize: 1000 }), randomBytes(1001))
        assert.strictEqual(large.status, 413)
        const broken = Stream.concat(Stream.make(randomBytes(100)), Stream.fail({ _tag: "Broken" }))
        const grant = { uploadId: upload.id, partNumber: 3, maxSize: 1000 }
        assert.strictEqual(yield* failure(parts.receive(grant, broken)), "Broken")
        assert.deepStrictEqual(filesBelow(join(root, "temporary")), [])
        assert.strictEqual(filesBelow(join(root, "uploads")).length, 2)
      })
    )
  )

  it.live("operations fail when the folder is missing, instead of reporting no objects", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* storage.write("ab/cd/x", Buffer.from("abc"), "text/plain")
        renameSync(root, `${root}-elsewhere`)
        const upload = { key: "ab/cd/y", id: "c0000000-0000-4000-8000-000000000000" }
        for (const operation of [
          storage.check,
          storage.size("ab/cd/x"),
          storage.begin("ab/cd/y", "text/plain"),
          storage.write("ab/cd/y", Buffer.from("abc"), "text/plain"),
          Stream.runDrain(storage.objects),
          Stream.runDrain(storage.uploads),
          storage.complete(upload, [{ partNumber: 1, eTag: md5(Buffer.of()) }])
        ]) {
          assert.strictEqual(yield* failure(operation as Effect.Effect<unknown, unknown>), "StorageUnavailableError")
        }
      })
    )
  )
})
