import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, FileSystem } from "effect"
import { AssetId } from "../../../src/domain/assets/Asset.ts"
import { ApiKeyId } from "../../../src/domain/keys/ApiKey.ts"
import { UploadId } from "../../../src/domain/assets/Upload.ts"
import * as UploadJournal from "../../../src/cli/upload/UploadJournal.ts"

const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
const begun = { size: 3, modified: 1_795_248_246_544.25, sha256: "ab", session: UploadId.make(uuid) }
const done = { size: 3, modified: 5, sha256: "ab", asset: AssetId.make(uuid) }

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const note = (file: string, path: string, known: UploadJournal.Known | undefined) =>
  Effect.scoped(Effect.flatMap(UploadJournal.open(file), (journal) => journal.note(path, known)))

describe("upload journal", () => {
  it.effect("the journal has the last state of each file, and only its owner can read it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* folder}/state/journal.ndjson`
      yield* note(file, "/été/a b.jpg", begun)
      yield* note(file, "/été/a b.jpg", done)
      yield* note(file, "/b", begun)
      yield* note(file, "/c", begun)
      yield* note(file, "/c", undefined)
      const journal = yield* UploadJournal.read(file)
      assert.deepStrictEqual(journal.find("/été/a b.jpg"), done)
      assert.deepStrictEqual(journal.find("/b"), begun)
      assert.isUndefined(journal.find("/c"))
      assert.strictEqual((yield* fs.stat(file)).mode & 0o777, 0o600)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("each service has a journal of its own, also one that was restored with the keys of another one", () =>
    Effect.gen(function* () {
      const key = { uuid: ApiKeyId.make(uuid), createdAt: DateTime.makeUnsafe(0) }
      const [first, again, other] = yield* Effect.forEach(
        ["https://one.example", "https://one.example", "https://two.example"],
        (url) => UploadJournal.fileOf(key, url)
      )
      assert.strictEqual(again, first)
      assert.notStrictEqual(other, first)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("a truncated journal loses only the incomplete line", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* folder}/journal.ndjson`
      yield* note(file, "/a", done)
      yield* note(file, "/b", done)
      yield* fs.truncate(file, Number((yield* fs.stat(file)).size) - 5)
      yield* note(file, "/c", done)
      const journal = yield* UploadJournal.read(file)
      assert.deepStrictEqual([journal.find("/a"), journal.find("/b"), journal.find("/c")], [done, undefined, done])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("the journal is compacted when it is opened", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* folder}/journal.ndjson`
      const journal = yield* UploadJournal.open(file)
      for (let turn = 0; turn < 600; turn++) {
        yield* journal.note("/a", begun)
        yield* journal.note("/b", done)
      }
      yield* note(file, "/a", done)
      assert.isBelow(Number((yield* fs.stat(file)).size), 1000)
      const reopened = yield* UploadJournal.read(file)
      assert.deepStrictEqual([reopened.find("/a"), reopened.find("/b")], [done, done])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
