import { assert, layer } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Option, Path, Stream } from "effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as BackupFiles from "../../../src/cli/backup/BackupFiles.ts"
import * as BackupFolder from "../../../src/cli/backup/BackupFolder.ts"
import { describe } from "../../../src/cli/Failures.ts"
import { replace } from "../../../src/cli/Replace.ts"
import { storageKey } from "../../../src/domain/assets/File.ts"
import { Storage, StorageUnavailableError } from "../../../src/storage/Storage.ts"
import { createAsset, upload } from "../../support/requests/AssetRequests.ts"
import { send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { ask, command, current, dataFolder, manifestOf, migrated } from "../../support/cli/Backups.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-backup-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let number = 0
const fresh = () => join(folder, `fresh-${++number}`)

/** Two unused files and two that assets use; returns their storage keys. */
const someFiles = Effect.gen(function* () {
  yield* ask(yield* current, "delete from assets")
  yield* ask(yield* current, "delete from files")
  const files = [yield* upload(), yield* upload(), yield* upload(), yield* upload()] as const
  const assets = [yield* createAsset({ fileUuid: files[2] }), yield* createAsset({ fileUuid: files[3] })]
  return { keys: files.map((uuid) => storageKey(uuid)), asset: assets[0]! }
})

const objects = Effect.map(dataFolder, (data) => join(data, "files/objects"))

const backup = Effect.fnUntraced(function* (more: Readonly<Record<string, string>> = {}) {
  const target = fresh()
  return { target, ...(yield* command(["backup", target], yield* current, yield* dataFolder, more)) }
})

const copied = (target: string) =>
  readdirSync(join(target, "files"), { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(target, "files", name)).isFile())
    .toSorted()

type Answer = (key: string, times: number, response: ServerResponse) => boolean

/** A bucket with the objects of a folder; `answer` may respond to a read instead. */
const bucketOf = Effect.fnUntraced(function* (root: string, answer: Answer) {
  const reads = new Map<string, number>()
  const server = createServer(({ method, url }: IncomingMessage, response: ServerResponse) => {
    const key = new URL(url!, "http://store").pathname.slice("/files/".length)
    const path = join(root, key)
    if (!existsSync(path)) return response.writeHead(404).end()
    response.setHeader("etag", '"a"').setHeader("content-length", statSync(path).size)
    if (method === "HEAD") return response.end()
    const times = (reads.get(key) ?? 0) + 1
    reads.set(key, times)
    return answer(key, times, response) ? undefined : response.end(readFileSync(path))
  })
  yield* Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close().closeAllConnections()))
  return {
    STORAGE: "s3",
    S3_BUCKET: "files",
    S3_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    S3_FORCE_PATH_STYLE: "true",
    S3_ACCESS_KEY_ID: "a",
    S3_SECRET_ACCESS_KEY: "a"
  }
})

/** Closes the connection before the last byte. */
const breakOff = (response: ServerResponse) => {
  response.flushHeaders()
  setTimeout(() => response.destroy(), 20)
  return true
}

layer(TestServer.layer(), { excludeTestServices: true })("files in backups", (it) => {
  it.effect("a backup skips and reports lost files that are not in use, and can be restored", () =>
    Effect.gen(function* () {
      const { keys } = yield* someFiles
      rmSync(join(yield* objects, keys[0]!))
      truncateSync(join(yield* objects, keys[1]!), 1)
      const { code, target, text } = yield* backup()
      assert.strictEqual(code, 0, text)
      assert.include(text, `${keys[0]} is missing`)
      assert.include(text, `${keys[1]} is different from the uploaded one`)
      assert.deepStrictEqual(copied(target), keys.slice(2).toSorted())
      assert.strictEqual(manifestOf(target).files.count, 2)
      assert.deepStrictEqual(readdirSync(target).toSorted(), [
        "files",
        "files.ndjson",
        "manifest.json",
        "manifest.json.sha256",
        "tables"
      ])
      const checked = yield* command(["restore", "--check", target], "", fresh())
      assert.strictEqual(checked.code, 0, checked.text)
      const [database, data] = [yield* migrated, fresh()]
      const restored = yield* command(["restore", target], database, data)
      assert.strictEqual(restored.code, 0, restored.text)
      assert.deepStrictEqual(yield* ask(database, "select count(*)::int as rows from files"), [{ rows: 4 }])
    })
  )

  it.effect("a lost file that is in use aborts the backup, and no longer does once it is unused", () =>
    Effect.gen(function* () {
      const { asset, keys } = yield* someFiles
      rmSync(join(yield* objects, keys[2]!))
      const failed = yield* backup()
      assert.deepStrictEqual([failed.code, existsSync(failed.target)], [1, false])
      assert.include(failed.text, `The file ${keys[2]} is missing, and records use it. No backup was made`)
      yield* send("DELETE", `/v1/assets/${asset}`)
      const made = yield* backup()
      assert.strictEqual(made.code, 0, made.text)
      assert.include(made.text, `${keys[2]} is missing`)
    })
  )

  it.effect("a backup names the storage, and on a file that it lacks first asks for the settings of the service", () =>
    Effect.gen(function* () {
      yield* someFiles
      const data = fresh()
      const { code, text } = yield* command(["backup", fresh()], yield* current, data)
      assert.strictEqual(code, 1)
      assert.include(text, `, files in ${join(data, "files")}\n`)
      assert.match(text, /No backup was made\. Check that STORAGE and DATA_DIR, or S3_BUCKET, are those of the service/)
      const bucket = yield* bucketOf(data, () => false)
      assert.match((yield* backup(bucket)).text, /^Installation: .+, files in the bucket files$/m)
    }).pipe(Effect.scoped)
  )

  it.effect("a backup retries files when the storage closes the connection", () =>
    Effect.gen(function* () {
      const { keys } = yield* someFiles
      const bucket = yield* bucketOf(yield* objects, (_, times, response) => times <= 2 && breakOff(response))
      const { code, target, text } = yield* backup(bucket)
      assert.strictEqual(code, 0, text)
      assert.deepStrictEqual(copied(target), keys.toSorted())
      assert.notInclude(text, "Skipped unused")
    }).pipe(Effect.scoped)
  )

  it.effect("a file that cannot be read aborts the backup and is not reported as lost", () =>
    Effect.gen(function* () {
      const { keys } = yield* someFiles
      const bucket = yield* bucketOf(yield* objects, (key, _, response) => key === keys[2] && breakOff(response))
      const { code, target, text } = yield* backup(bucket)
      assert.deepStrictEqual([code, existsSync(target)], [1, false])
      assert.include(text, `The file ${keys[2]} cannot be copied: `)
      assert.notInclude(text, "older one")
    }).pipe(Effect.scoped)
  )

  it.effect("a lost file that is in use fails the copies once no folder is being made any more", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = BackupFolder.layoutOf(yield* Path.Path, fresh())
      const lines = ["aa/lost", "bb/slow"].map((key) => ({ key, size: 1, sha256: "", contentType: "text/plain" }))
      let making = 0
      const lost = Promise.withResolvers<void>()
      const slow = FileSystem.make({
        ...fs,
        makeDirectory: (path, options) =>
          Effect.callback((resume) => {
            making++
            const make = () => {
              making--
              resume(fs.makeDirectory(path, options))
            }
            if (path.endsWith("bb")) void lost.promise.then(() => setTimeout(make, 200))
            else make()
          })
      })
      const missing = Layer.mock(Storage, {
        read: () => Stream.fail(new StorageUnavailableError({ message: "missing" })),
        size: () => {
          lost.resolve()
          return Effect.succeed(Option.none())
        }
      })
      const error = yield* BackupFiles.copyUsed(layout, Stream.fromIterable(lines), { done: 0 }).pipe(
        Effect.provideService(FileSystem.FileSystem, slow),
        Effect.provide(missing),
        Effect.flip
      )
      assert.include(error.message, "aa/lost is missing, and records use it")
      assert.strictEqual(making, 0)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("a file of a backup or an export that the disk does not take is named with what the system reports", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const full = FileSystem.make({ ...fs, open: () => fs.open("/dev/full", { flag: "w" }) })
      const file = fresh()
      for (const write of [
        BackupFolder.write(file, Stream.succeed(Buffer.from("x"))),
        replace(file, Stream.succeed("x"))
      ]) {
        const error = yield* Effect.flip(Effect.provideService(write, FileSystem.FileSystem, full))
        assert.strictEqual(describe(error), `${file}: ENOSPC: no space left on device, write`)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("a backup locks the file rows only while it copies unused files", () =>
    Effect.gen(function* () {
      const { keys } = yield* someFiles
      const url = yield* current
      const locks = new Map<string, ReadonlyArray<unknown>>()
      // Databases created from one template have equal oids of tables.
      const held = `select distinct mode from pg_locks where relation = 'files'::regclass and mode = 'RowShareLock'
        and database = (select oid from pg_database where datname = current_database())`
      const bucket = yield* bucketOf(yield* objects, (key, _, response) => {
        void Effect.runPromise(ask(url, held)).then((found) => {
          locks.set(key, found)
          return response.end(readFileSync(join(root, key)))
        })
        return true
      })
      const root = yield* objects
      const { code, text } = yield* backup(bucket)
      assert.strictEqual(code, 0, text)
      assert.deepStrictEqual(
        keys.map((key) => locks.get(key)?.length),
        [1, 1, 0, 0]
      )
    }).pipe(Effect.scoped)
  )
})
