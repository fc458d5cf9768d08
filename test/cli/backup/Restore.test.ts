import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { hexOf } from "../../../src/cli/backup/BackupFolder.ts"
import { createEverything } from "../../support/proofs/Everything.ts"
import * as TestServer from "../../support/TestServer.ts"
import { ask, command, current, dataFolder, empty, migrated } from "../../support/cli/Backups.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-restore-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const first = join(folder, "first")
let number = 0
const fresh = () => join(folder, `fresh-${++number}`)

/** A damaged copy of the backup. */
const spoilt = (spoil: (copy: string) => void) => {
  const copy = fresh()
  cpSync(first, copy, { recursive: true })
  spoil(copy)
  return copy
}
const aFile = (copy: string) =>
  readdirSync(join(copy, "files"), { recursive: true, encoding: "utf8" })
    .map((name) => join(copy, "files", name))
    .find((path) => statSync(path).isFile())!
const edit = (path: string, change: (text: string) => string) => writeFileSync(path, change(readFileSync(path, "utf8")))
/** Changes the manifest of a copy together with its checksum. */
const editManifest = (copy: string, change: (text: string) => string) => {
  edit(join(copy, "manifest.json"), change)
  writeFileSync(join(copy, "manifest.json.sha256"), hexOf(readFileSync(join(copy, "manifest.json"))))
}

const damages: ReadonlyArray<readonly [what: string, spoil: (copy: string) => void, message: RegExp]> = [
  [
    "a table that is truncated",
    (copy) => truncateSync(join(copy, "tables/locations.ndjson"), 20),
    /locations.*truncated/
  ],
  [
    "a table with another letter",
    (copy) => edit(join(copy, "tables/users.ndjson"), (text) => text.replace("user-", "usef-")),
    /users.*damaged/
  ],
  ["a table that is missing", (copy) => rmSync(join(copy, "tables/posts.ndjson")), /posts.ndjson is missing/],
  ["a file that is truncated", (copy) => truncateSync(aFile(copy), 1), /files\/.*truncated/],
  ["a file that is missing", (copy) => rmSync(aFile(copy)), /files\/.* is missing/],
  [
    "a list of files without its last line",
    (copy) => edit(join(copy, "files.ndjson"), (text) => text.slice(0, text.lastIndexOf("{"))),
    /files.ndjson is damaged/
  ],
  [
    "a manifest that is truncated",
    (copy) => truncateSync(join(copy, "manifest.json"), 100),
    /manifest.json is damaged/
  ],
  [
    "a manifest with another number",
    (copy) => edit(join(copy, "manifest.json"), (text) => text.replace('"rows":1', '"rows":2')),
    /manifest.json is damaged/
  ],
  ["no manifest", (copy) => rmSync(join(copy, "manifest.json")), /has no manifest.json/],
  ["a later form", (copy) => editManifest(copy, (text) => text.replace('"format":1', '"format":2')), /newer than this/],
  [
    "a later migration",
    (copy) =>
      editManifest(copy, (text) => text.replace('[1,"create_foundation"]', '[1,"create_foundation"],[9999,"x"]')),
    /The database of the backup was migrated by a newer Waypost \(migration 9999_x\); restore it with that version/
  ]
]

const needsAnother = "The database is unchanged. Set DATABASE_URL to a new, empty database"

layer(TestServer.layer(), { excludeTestServices: true })("waypost restore", (it) => {
  it.effect("a backup for the tests below is created", () =>
    Effect.gen(function* () {
      yield* createEverything
      const { code, text } = yield* command(["backup", first], yield* current, yield* dataFolder)
      assert.strictEqual(code, 0, text)
    })
  )

  it.effect.each(damages)("a restore rejects %s and changes nothing", ([, spoil, message]) =>
    Effect.gen(function* () {
      const [target, data] = [yield* empty, fresh()]
      const { code, text } = yield* command(["restore", spoilt(spoil)], target, data)
      assert.strictEqual(code, 1)
      assert.match(text, message)
      assert.deepStrictEqual(yield* ask(target, "select from pg_class where relnamespace = 'public'::regnamespace"), [])
      assert.isFalse(existsSync(data))
    })
  )

  it.effect("restore --check accepts a complete backup and rejects a damaged one, without a database", () =>
    Effect.gen(function* () {
      const nowhere = "postgres://unknown@127.0.0.1:1/nothing"
      const good = yield* command(["restore", "--check", first], nowhere, fresh())
      assert.deepStrictEqual([good.code, good.text.startsWith("Complete: ")], [0, true], good.text)
      const bad = yield* command(["restore", "--check", spoilt((copy) => rmSync(aFile(copy)))], nowhere, fresh())
      assert.strictEqual(bad.code, 1)
    })
  )

  it.effect("a restore accepts a migrated, empty database and rejects one with a record", () =>
    Effect.gen(function* () {
      const [target, data] = [yield* migrated, fresh()]
      const restored = yield* command(["restore", first], target, data)
      assert.strictEqual(restored.code, 0, restored.text)
      assert.match(restored.text, /^Installation: postgres:\/\/[^@]+$/m)
      const { createdAt } = JSON.parse(readFileSync(join(first, "manifest.json"), "utf8"))
      assert.include(
        restored.text,
        `\nKeys that were revoked or rotated since ${createdAt} work again; waypost keys list`
      )
      const before = yield* ask(target, "select count(*)::int as rows from locations")
      const twice = yield* command(["restore", first], target, data)
      assert.strictEqual(twice.code, 1)
      assert.match(twice.text, new RegExp(`has records: the table \\w+ is not empty\\. ${needsAnother}$`, "m"))
      assert.deepStrictEqual(yield* ask(target, "select count(*)::int as rows from locations"), before)

      const other = yield* empty
      yield* ask(other, "create table theirs (a int)")
      yield* ask(other, "insert into theirs values (1)")
      const foreign = yield* command(["restore", first], other, data)
      assert.deepStrictEqual([foreign.code, foreign.text.includes("theirs")], [1, true], foreign.text)
    })
  )

  it.effect("a restore rejects a database with later migrations than the backup, and asks for an empty one", () =>
    Effect.gen(function* () {
      const copy = spoilt((copy) =>
        editManifest(copy, (text) => {
          const manifest = JSON.parse(text)
          manifest.migrations.waypost.pop()
          return JSON.stringify(manifest)
        })
      )
      const [target, data] = [yield* migrated, fresh()]
      const { code, text } = yield* command(["restore", copy], target, data)
      assert.strictEqual(code, 1)
      assert.include(text, `The database has later migrations than the backup. ${needsAnother}`)
    })
  )

  it.effect(
    "a location whose time zone the server does not know is restored, also from a backup of the version before",
    () =>
      Effect.gen(function* () {
        const unknown = "select count(*)::int as rows from locations where timezone = 'US/Pacific-New'"
        yield* ask(
          yield* current,
          `do $$ begin
          perform set_config('session_replication_role', 'replica', true);
          update locations set timezone = 'US/Pacific-New' where uuid = (select min(uuid::text)::uuid from locations);
        end $$`
        )
        const copy = fresh()
        const made = yield* command(["backup", copy], yield* current, yield* dataFolder)
        assert.strictEqual(made.code, 0, made.text)
        for (const [last, prepared] of [
          [Infinity, migrated],
          [65, empty]
        ] as const) {
          editManifest(copy, (text) => {
            const manifest = JSON.parse(text)
            const { waypost } = manifest.migrations
            manifest.migrations.waypost = waypost.filter(([id]: readonly [number]) => id <= last)
            // The column of migration 0076 is the last one of its table.
            if (last < 76) manifest.tables.find(({ name }: { name: string }) => name === "webhook_states").columns.pop()
            return JSON.stringify(manifest)
          })
          const target = yield* prepared
          const restored = yield* command(["restore", copy], target, fresh())
          assert.strictEqual(restored.code, 0, restored.text)
          assert.deepStrictEqual(yield* ask(target, unknown), [{ rows: 1 }])
        }
      })
  )

  it.effect("a backup with dangling references is rejected, and the database stays empty", () =>
    Effect.gen(function* () {
      const copy = spoilt((copy) => {
        writeFileSync(join(copy, "tables/users.ndjson"), "")
        const nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        editManifest(copy, (text) =>
          text.replace(
            /("name":"users".*?"rows":)\d+,"bytes":\d+,"sha256":"\w+"/,
            `$10,"bytes":0,"sha256":"${nothing}"`
          )
        )
      })
      const [target, data] = [yield* empty, fresh()]
      const { code, text } = yield* command(["restore", copy], target, data)
      assert.strictEqual(code, 1)
      assert.match(text, /violates foreign key constraint.*\. The database is unchanged$/m)
      assert.notMatch(text, /DATA_DIR|DATABASE_URL/)
      assert.deepStrictEqual(yield* ask(target, "select from pg_class where relnamespace = 'public'::regnamespace"), [])
    })
  )
})
