import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ListedPart } from "../../src/storage/PartList.ts"
import { type MultipartUpload, Storage } from "../../src/storage/Storage.ts"
import { compileCache, until } from "../support/Process.ts"
import { filesBelow, temporaryFolder } from "../support/storage/Folder.ts"
import { contentOfPart, partsOfKilled } from "./KilledUploads.ts"
import { assertSame, contentOf, newKey, send, uploaded } from "../support/storage/Parts.ts"
import { fileStorage, onStorage } from "./PartServer.ts"

interface Printed {
  readonly upload?: MultipartUpload
  readonly parts?: ReadonlyArray<ListedPart>
  readonly completed?: string
}

/** Runs the joiner, kills it after a delay, and returns its output. */
const killed = (root: string, milliseconds: number) =>
  Effect.promise(
    () =>
      new Promise<ReadonlyArray<Printed>>((resolve) => {
        const script = fileURLToPath(new URL("joiner.ts", import.meta.url))
        const child = spawn(process.execPath, [script, root], {
          env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
          stdio: ["ignore", "pipe", "inherit"],
          timeout: 120_000,
          killSignal: "SIGKILL"
        })
        let text = ""
        child.stdout.on("data", (data) => {
          // The delay starts at the first upload, regardless of the start-up time.
          if (text === "") setTimeout(() => child.kill("SIGKILL"), milliseconds)
          text += data
        })
        const lines = () => text.split("\n").slice(0, -1)
        child.on("close", () => resolve(lines().map((line) => JSON.parse(line) as Printed)))
      })
  )

const objectKeys = Effect.flatMap(Storage, (storage) =>
  Effect.map(Stream.runCollect(storage.objects), (objects) => objects.map(({ key }) => key).toSorted())
)

describe("FileStorage after crashes", () => {
  it.live("after kill -9 during joins every object is complete, and every upload can be completed", () =>
    Effect.gen(function* () {
      const root = yield* temporaryFolder
      let repeated = 0
      for (const milliseconds of [1, 3, 7, 12, 20, 40]) {
        const printed = yield* killed(root, milliseconds)
        const completed = new Set(printed.flatMap((line) => line.completed ?? []))
        yield* Effect.gen(function* () {
          const storage = yield* Storage
          const listed = new Set(yield* objectKeys)
          for (const { parts, upload } of printed) {
            if (upload === undefined || parts === undefined) continue
            const expected = Buffer.concat(partsOfKilled.map((number) => contentOfPart(upload.key, number)))
            if (completed.has(upload.key)) assert.isTrue(listed.has(upload.key), "an acknowledged object is lost")
            else repeated++
            if (listed.has(upload.key)) assertSame(yield* contentOf(upload.key), expected)
            yield* storage.complete(upload, parts)
            assertSame(yield* contentOf(upload.key), expected)
            yield* storage.remove(upload.key)
          }
          const open = yield* Stream.runCollect(storage.uploads)
          for (const upload of open) yield* storage.abort(upload)
          assert.deepStrictEqual(filesBelow(join(root, "uploads")), [])
        }).pipe(Effect.provide(fileStorage(root)))
      }
      assert.isAbove(repeated, 0, "no process was killed during a join")
    })
  )

  it.live("an upload can be completed from every state that a crash can leave", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const contents = [randomBytes(100), randomBytes(50)]
        for (const count of [1, 2]) {
          const expected = Buffer.concat(contents.slice(0, count))
          const { parts, upload } = yield* uploaded(...contents.slice(0, count))
          const folder = join(root, "uploads", upload.id)
          cpSync(folder, `${folder}-copy`, { recursive: true })

          // Killed during the join: half of the object under a temporary name.
          writeFileSync(join(root, "temporary", upload.id), expected.subarray(0, 10))
          assert.deepStrictEqual(yield* storage.size(upload.key), Option.none())
          yield* storage.complete(upload, parts)
          assertSame(yield* contentOf(upload.key), expected)

          // Killed after the object was created and before the parts were removed.
          renameSync(`${folder}-copy`, folder)
          yield* storage.complete(upload, parts)
          assertSame(yield* contentOf(upload.key), expected)
          assert.isFalse(existsSync(folder))

          // Killed after a single part was renamed to the object.
          mkdirSync(folder)
          writeFileSync(join(folder, "key"), upload.key)
          yield* storage.complete(upload, parts)
          assert.isFalse(existsSync(folder))
        }
        assert.strictEqual((yield* objectKeys).length, 2)
      })
    )
  )

  it.live("if two copies of a part exist, the newer one is listed and either completes the upload", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        for (const which of ["older", "newer"] as const) {
          const { parts, upload } = yield* uploaded(Buffer.from("older"))
          const folder = join(root, "uploads", upload.id)
          cpSync(folder, `${folder}-copy`, { recursive: true })
          const again = yield* send(upload, 1, Buffer.from("newer"))
          for (const name of readdirSync(`${folder}-copy`)) renameSync(join(`${folder}-copy`, name), join(folder, name))
          assert.deepStrictEqual(
            (yield* storage.parts(upload)).map(({ eTag }) => eTag),
            [again.eTag]
          )
          yield* storage.complete(upload, which === "older" ? parts : [again])
          assertSame(yield* contentOf(upload.key), Buffer.from(which))
        }
      })
    )
  )

  const rightNow = Date.now()
  it.effect.each([
    ["is a day slow", rightNow - 86_400_000],
    ["is right", rightNow],
    ["is a day fast", rightNow + 86_400_000]
  ] as const)("temporary files are never listed and are removed at start after an hour, when the clock %s", ([, now]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const root = yield* temporaryFolder
      const temporary = join(root, "temporary")
      mkdirSync(join(temporary, "old-folder"), { recursive: true })
      mkdirSync(join(temporary, "new-folder"))
      for (const name of ["old-folder/key", "new-folder/key", "old-file", "new-file"]) {
        writeFileSync(join(temporary, name), newKey())
      }
      const before = (minutes: number) => Date.now() / 1000 - minutes * 60
      for (const name of ["old-folder", "old-file"]) utimesSync(join(temporary, name), before(61), before(61))
      for (const name of ["new-folder", "new-file"]) utimesSync(join(temporary, name), before(50), before(50))
      yield* Effect.gen(function* () {
        const storage = yield* Storage
        assert.deepStrictEqual(yield* objectKeys, [])
        assert.deepStrictEqual([...(yield* Stream.runCollect(storage.uploads))], [])
        yield* Effect.promise(() => until("old files are removed", () => readdirSync(temporary).length === 2))
        assert.deepStrictEqual(readdirSync(temporary).toSorted(), ["new-file", "new-folder"])
      }).pipe(Effect.provide(fileStorage(root)))
    })
  )

  it.live("foreign files in the folder are not listed", () =>
    onStorage((root) =>
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* storage.write("ab/cd/x", Buffer.from("abc"), "text/plain")
        for (const folder of ["objects/lost+found", "objects/ab/lost+found", "uploads/lost+found"])
          mkdirSync(join(root, folder))
        for (const file of [
          "objects/.DS_Store",
          "objects/ab/.DS_Store",
          "objects/ab/cd/.DS_Store",
          "uploads/.DS_Store"
        ]) {
          writeFileSync(join(root, file), "")
        }
        assert.deepStrictEqual(yield* objectKeys, ["ab/cd/x"])
        assert.deepStrictEqual([...(yield* Stream.runCollect(storage.uploads))], [])
      })
    )
  )
})
