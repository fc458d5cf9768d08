import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as Snapshot from "../../../src/backup/Snapshot.ts"
import { maintenanceClient } from "../../../src/sql/connections/Maintenance.ts"
import { createGroup } from "../../support/requests/ProductRequests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"
import { ask, awaitLock, clientOf, command, current, dataFolder, manifestOf } from "../../support/cli/Backups.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-backup-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let number = 0
const fresh = () => join(folder, `fresh-${++number}`)

/** Rewrites the table, so that older snapshots see no rows. */
const rewrite = "alter table groups add column drawn float8 default random()"
const ledger = "do 'begin lock table waypost_migrations in access exclusive mode; end'"

/** The statement must wait for a lock longer than 200 ms. */
const mustWait = Effect.fnUntraced(function* (url: string, statement: string) {
  const limited = new URL(url)
  limited.searchParams.set("options", "-c lock_timeout=200")
  const { reason } = yield* Effect.flip(ask(limited.href, statement))
  assert.strictEqual(reason._tag, "LockTimeoutError")
})

/** Starts a backup during a transaction, which continues once the backup waits for it. */
const duringTransaction = Effect.fnUntraced(function* (before: ReadonlyArray<string>, after: ReadonlyArray<string>) {
  const [url, target, data] = [yield* current, fresh(), yield* dataFolder]
  const client = yield* Layer.build(clientOf(url))
  const made = yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const run = (statements: ReadonlyArray<string>) =>
      Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* run(before)
        const backup = yield* Effect.forkScoped(command(["backup", target], url, data))
        yield* awaitLock(url, "AccessShareLock")
        yield* run(after)
        return backup
      })
    )
  }).pipe(Effect.provide(client))
  return { target, ...(yield* Fiber.join(made)) }
}, Effect.scoped)

const groups = (target: string) => manifestOf(target).tables.find(({ name }) => name === "groups")

const concurrent: ReadonlyArray<readonly [what: string, before: Array<string>, after: Array<string>]> = [
  ["an operator rewrites a table", [rewrite], []],
  ["a migration rewrites a table", [ledger, rewrite], []],
  ["a migration is about to rewrite a table", [ledger], [rewrite]],
  ["a migration makes a table and rewrites another", [ledger, "create table made (a int)"], [rewrite]]
]

layer(TestServer.layer(), { excludeTestServices: true })("waypost backup", (it) => {
  const restoreSchema = Effect.gen(function* () {
    yield* ask(yield* current, "alter table groups drop column if exists drawn")
    yield* ask(yield* current, "drop table if exists made, doomed")
  }).pipe(Effect.orDie)

  it.effect.each(concurrent)("a backup that begins while %s has all rows", ([, before, after]) =>
    Effect.gen(function* () {
      yield* createGroup()
      const [expected] = yield* ask(yield* current, "select count(*)::int as rows from groups")
      const { code, target, text } = yield* duringTransaction(before, after)
      assert.strictEqual(code, 0, text)
      assert.strictEqual(groups(target)!.rows, expected!["rows"])
      assert.include(groups(target)!.columns, "drawn")
    }).pipe(Effect.ensuring(restoreSchema))
  )

  it.effect("a migration that begins while a backup begins waits for it, and the backup does not wait", () =>
    Effect.gen(function* () {
      const [url, target, data] = [yield* current, fresh(), yield* dataFolder]
      yield* ask(
        url,
        `insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing, unattached_since)
          values (gen_random_uuid(), 'unused', '', 'image/png', 1, '', '', '', 'ready', now() - interval '2 days')`
      )
      const { backup, migration } = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`delete from files where file_name = 'unused'`
            const backup = yield* Effect.forkScoped(command(["backup", target], url, data))
            // It has locked the migrations by then, and no table yet.
            yield* eventually(
              "the backup waits for the file",
              sql<{ readonly waits: number }>`select count(*)::int as waits from pg_locks
                where not granted and transactionid = pg_current_xact_id()::xid`,
              ([row]) => row!.waits === 1
            )
            const migration = yield* Effect.forkScoped(ask(url, ledger))
            yield* awaitLock(url, "AccessExclusiveLock")
            return { backup, migration }
          })
        )
      }).pipe(Effect.provide(clientOf(url)))
      const { code, text } = yield* Fiber.join(backup)
      assert.strictEqual(code, 0, text)
      assert.isNotEmpty(manifestOf(target).migrations.waypost)
      yield* Fiber.join(migration)
    }).pipe(Effect.scoped)
  )

  it.effect("a backup prevents tables from being rewritten while it reads them", () =>
    Effect.gen(function* () {
      yield* createGroup()
      const url = yield* current
      const [expected] = yield* ask(url, "select count(*)::int as rows from groups")
      yield* Snapshot.snapshot((tables) =>
        Effect.gen(function* () {
          const table = tables.find(({ name }) => name === "groups")!
          yield* mustWait(url, rewrite)
          assert.lengthOf(yield* Stream.runCollect(Snapshot.rows(table)), Number(expected!["rows"]))
        })
      ).pipe(Effect.provide(maintenanceClient))
    }).pipe(Effect.ensuring(restoreSchema))
  )

  it.effect.each([
    ["dropping a table", ["create table doomed (a int)"], ["drop table doomed"], []],
    ["creating a table", [], [rewrite], ["create table made (a int)"]]
  ] as const)("%s while a backup begins aborts it with a message", ([, first, before, after]) =>
    Effect.gen(function* () {
      for (const statement of first) yield* ask(yield* current, statement)
      const { code, text } = yield* duringTransaction(before, after)
      assert.deepStrictEqual([code, /created or dropped while the snapshot began/.test(text)], [1, true], text)
    }).pipe(Effect.ensuring(restoreSchema))
  )

  it.effect("a backup that locks the migrations blocks new migrations, but not reads of files", () =>
    Effect.gen(function* () {
      const url = yield* current
      yield* Snapshot.holding(() =>
        Effect.gen(function* () {
          yield* mustWait(url, ledger)
          yield* ask(url, "select count(*) from files")
          yield* ask(url, "select count(*) from waypost_migrations")
        })
      ).pipe(Effect.provide(maintenanceClient))
    })
  )
})
