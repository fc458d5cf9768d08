import { assert, layer } from "@effect/vitest"
import { Effect, Struct } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { storageKey } from "../../../src/domain/assets/File.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { createEverything } from "../../support/proofs/Everything.ts"
import { violations } from "../../support/proofs/Invariants.ts"
import * as TestServer from "../../support/TestServer.ts"
import { ask, command, current, dataFolder, empty, manifestOf, migrated, schema } from "../../support/cli/Backups.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-backup-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const [first, second] = [join(folder, "first"), join(folder, "second")]
let number = 0
const fresh = () => join(folder, `fresh-${++number}`)
const below = (path: string) => readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name))

layer(TestServer.layer(), { excludeTestServices: true })("waypost backup", (it) => {
  it.effect("a restored backup has equal rows, files and schema, and violates no invariant", () =>
    Effect.gen(function* () {
      yield* createEverything
      // Text that no request can write but the database can hold.
      const { pooled } = yield* Sql
      yield* pooled.unsafe(
        "update locations set name = E'tab \\t line \\n return \\r nothing \\\\N' where uuid = (select uuid from locations limit 1)"
      )
      // A change waits for its place in the log only for a moment.
      yield* pooled`select waypost_seal_all()`
      const [url, target, data] = [yield* current, yield* empty, fresh()]
      const made = yield* command(["backup", first], url, yield* dataFolder)
      assert.strictEqual(made.code, 0, made.text)
      assert.match(made.text, /rows of \d+ tables and 4 files/)
      const { files, sequences, tables } = manifestOf(first)
      // A background job fills those of the quality of locations at a time of its own.
      assert.deepStrictEqual(
        tables.filter(({ name, rows }) => rows === 0 && !name.includes("location_quality")).map(({ name }) => name),
        [
          "event_erasures",
          "past_files",
          "pending_changes",
          "product_assets",
          "product_reservations",
          "stale_asset_texts",
          "webhook_deliveries",
          "webhook_dropped",
          "webhook_queue",
          "webhook_replays",
          "webhook_secrets",
          "webhook_states",
          "webhooks",
          "webhooks_edits"
        ]
      )

      const restored = yield* command(["restore", first], target, data)
      assert.strictEqual(restored.code, 0, restored.text)
      assert.deepStrictEqual(yield* ask(target, schema), yield* ask(url, schema))
      const found = yield* Effect.promise(() =>
        violations((statement) => Effect.runPromise(ask(target, statement)), join(data, "files/objects"))
      )
      assert.deepStrictEqual(found, [])

      const again = yield* command(["backup", second], target, data)
      assert.strictEqual(again.code, 0, again.text)
      const other = manifestOf(second)
      // A restored log begins a generation.
      const same = <A extends { readonly name: string }>(list: ReadonlyArray<A>) =>
        list.filter(({ name }) => !name.startsWith("event_generations"))
      // A table keeps its rows in the order in which they fit into its pages.
      const rowsOf = (folder: string, table: (typeof tables)[number]) => ({
        ...Struct.omit(table, ["sha256"]),
        lines: readFileSync(join(folder, `tables/${table.name}.ndjson`), "utf8")
          .split("\n")
          .toSorted()
      })
      assert.deepStrictEqual(
        [same(other.tables).map((table) => rowsOf(second, table)), other.files, same(other.sequences)],
        [same(tables).map((table) => rowsOf(first, table)), files, same(sequences)]
      )
      assert.strictEqual(
        readFileSync(join(second, "files.ndjson"), "utf8"),
        readFileSync(join(first, "files.ndjson"), "utf8")
      )
    })
  )

  it.effect("triggers, foreign keys and row counts work in a restored database", () =>
    Effect.gen(function* () {
      const [target, data] = [yield* migrated, fresh()]
      yield* command(["restore", first], target, data)
      yield* ask(target, "delete from user_groups")
      yield* ask(target, "delete from users")
      assert.deepStrictEqual(yield* ask(target, "select user_count from groups"), [{ user_count: 0 }])
      const total = "select sum(delta)::int as total from row_counts where relation = 'users'"
      assert.deepStrictEqual(yield* ask(target, total), [{ total: 0 }])
      const orphan = yield* Effect.exit(
        ask(target, "insert into user_groups values (gen_random_uuid(), gen_random_uuid())")
      )
      assert.strictEqual(orphan._tag, "Failure")
    })
  )

  it.effect("a backup includes tables of later migrations, with cyclic references and sequences", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const make = `
        create table "Odd name/1" (id bigint generated always as identity primary key, "of" bigint, twice bigint generated always as ("of" * 2) stored, kind text[]);
        create table other (id bigint primary key, odd bigint references "Odd name/1" (id));
        alter table "Odd name/1" add constraint circle foreign key ("of") references other (id) deferrable initially deferred`
      const remove = `drop table other, "Odd name/1" cascade`
      yield* Effect.acquireRelease(
        Effect.forEach(make.split(";"), (statement) => pooled.unsafe(statement)),
        () => Effect.orDie(pooled.unsafe(remove))
      )
      yield* pooled.withTransaction(
        Effect.andThen(
          pooled.unsafe(`insert into "Odd name/1" ("of", kind) values (7, '{"a,b",null}'), (null, null)`),
          pooled.unsafe("insert into other values (7, 1)")
        )
      )
      const [copy, target, data] = [fresh(), yield* migrated, fresh()]
      yield* command(["backup", copy], yield* current, yield* dataFolder)
      // Create the tables, as the later migration of the restoring service does.
      yield* Effect.forEach(make.split(";"), (statement) => ask(target, statement))
      const restored = yield* command(["restore", copy], target, data)
      assert.strictEqual(restored.code, 0, restored.text)
      const rows = `select * from "Odd name/1" left join other on odd = "Odd name/1".id order by 1`
      assert.deepStrictEqual(yield* ask(target, rows), yield* pooled.unsafe(rows))
      const next = `insert into "Odd name/1" ("of") values (null) returning id::int`
      assert.deepStrictEqual(yield* ask(target, next), [{ id: 3 }])
      const circle = yield* ask(target, "select condeferrable, condeferred from pg_constraint where conname = 'circle'")
      assert.deepStrictEqual(circle, [{ condeferrable: true, condeferred: true }])
    }).pipe(Effect.scoped)
  )

  it.effect("a backup is readable by its owner only", () =>
    Effect.sync(() => {
      assert.strictEqual(statSync(first).mode & 0o777, 0o700)
      for (const path of below(first)) {
        const stat = statSync(path)
        assert.strictEqual(stat.mode & 0o777, stat.isDirectory() ? 0o700 : 0o600, path)
      }
    })
  )

  it.effect("a backup with missing or changed files fails and leaves no files behind", () =>
    Effect.gen(function* () {
      const [target, source] = [fresh(), yield* dataFolder]
      const [used] = yield* ask(yield* current, "select file_uuid as uuid from assets limit 1")
      const file = join(source, "files/objects", storageKey(String(used!["uuid"])))
      const bytes = readFileSync(file)
      for (const [spoil, why] of [
        [() => truncateSync(file, 1), "is different from the uploaded one"],
        [() => rmSync(file), "is missing"]
      ] as const) {
        spoil()
        const { code, text } = yield* command(["backup", target], yield* current, source)
        assert.deepStrictEqual([code, text.includes(`${why}, and records use it. No backup was made`)], [1, true], text)
      }
      writeFileSync(file, bytes)
      const taken = yield* command(["backup", first], yield* current, source)
      assert.deepStrictEqual([taken.code, /exists; choose/.test(taken.text)], [1, true])
      const none = yield* command(["backup", target], yield* empty, source)
      assert.deepStrictEqual([none.code, /no installation of Waypost/.test(none.text)], [1, true])
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.includes("partial")),
        []
      )
      assert.isFalse(readdirSync(folder).some((name) => join(folder, name) === target))
    })
  )
})
