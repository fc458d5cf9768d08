import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { createEverything } from "../../support/proofs/Everything.ts"
import * as TestServer from "../../support/TestServer.ts"
import { ask, command, current, dataFolder, empty, migrated } from "../../support/cli/Backups.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-backup-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let number = 0
const fresh = () => join(folder, `fresh-${++number}`)

/** A backup of a database after the statements. */
const changed = Effect.fnUntraced(function* (...statements: ReadonlyArray<string>) {
  for (const statement of statements) yield* ask(yield* current, statement)
  const copy = fresh()
  const made = yield* command(["backup", copy], yield* current, yield* dataFolder)
  assert.strictEqual(made.code, 0, made.text)
  return copy
})

const files = (data: string) =>
  existsSync(data)
    ? readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
    : 0

layer(TestServer.layer(), { excludeTestServices: true })(
  "backups of databases with foreign tables or columns",
  (it) => {
    it.effect("a restore skips foreign tables and reports their names and where their rows are", () =>
      Effect.gen(function* () {
        yield* createEverything
        const copy = yield* changed(
          "create table locations_old as select * from locations",
          `create table "Theirs" (id serial primary key, location uuid references locations (uuid))`,
          `insert into "Theirs" (location) select uuid from locations`
        )
        const [target, data] = [yield* migrated, fresh()]
        const restored = yield* command(["restore", copy], target, data)
        assert.strictEqual(restored.code, 0, restored.text)
        assert.include(restored.text, `Skipped: Theirs, locations_old, which are not tables of Waypost`)
        assert.include(restored.text, join(copy, "tables"))
        assert.deepStrictEqual(
          yield* ask(target, "select count(*)::int as rows from locations"),
          yield* ask(yield* current, "select count(*)::int as rows from locations")
        )
        const foreign = "select to_regclass('locations_old') as old, to_regclass('\"Theirs\"') as theirs"
        assert.deepStrictEqual(yield* ask(target, foreign), [{ old: null, theirs: null }])
      }).pipe(
        Effect.ensuring(
          Effect.orDie(Effect.flatMap(current, (url) => ask(url, `drop table if exists locations_old, "Theirs"`)))
        )
      )
    )

    it.effect("a restore rejects a foreign column before any change, and accepts it once the column exists", () =>
      Effect.gen(function* () {
        const copy = yield* changed(
          "alter table locations add column erp_number int",
          "update locations set erp_number = 7"
        )
        const [target, data] = [yield* empty, fresh()]
        const rejected = yield* command(["restore", copy], target, data)
        assert.strictEqual(rejected.code, 1)
        assert.include(rejected.text, "a column erp_number in locations, which Waypost does not make")
        assert.notInclude(rejected.text, "later migrations than the backup")
        assert.strictEqual(files(data), 0)
        assert.deepStrictEqual(
          yield* ask(target, "select from pg_class where relnamespace = 'public'::regnamespace"),
          []
        )

        const prepared = yield* migrated
        yield* ask(prepared, "alter table locations add column erp_number int")
        const restored = yield* command(["restore", copy], prepared, data)
        assert.strictEqual(restored.code, 0, restored.text)
        assert.deepStrictEqual(yield* ask(prepared, "select distinct erp_number from locations"), [{ erp_number: 7 }])
        assert.isAbove(files(data), 0)
      })
    )
  }
)
