import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as Snapshot from "../../../src/backup/Snapshot.ts"
import { maintenanceClient } from "../../../src/sql/Sql.ts"
import { createGroup } from "../../support/requests/ProductRequests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { ask, awaitLock, clientOf, command, current, dataFolder, manifestOf } from "../../support/cli/Backups.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-backup-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let number = 0
const fresh = () => join(folder, `fresh-${++number}`)

/** Writes every row of the table into a new file, which snapshots that are older do not see. */
const rewrite = "alter table groups add column drawn float8 default random()"
const ledger = "do 'begin lock table waypost_migrations in access exclusive mode; end'"

/** Somebody who is not as patient as this statement would have to be. */
const mustWait = Effect.fnUntraced(function* (url: string, statement: string) {
  const impatient = new URL(url)
  impatient.searchParams.set("options", "-c lock_timeout=200")
  const { reason } = yield* Effect.flip(ask(impatient.href, statement))
  assert.strictEqual(reason._tag, "LockTimeoutError")
})

/** Begins a backup while a transaction is under way, which goes on when the backup has come to wait for it. */
const beside = Effect.fnUntraced(function* (before: ReadonlyArray<string>, after: ReadonlyArray<string>) {
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

const underWay: ReadonlyArray<readonly [what: string, before: Array<string>, after: Array<string>]> = [
  ["an operator rewrites a table", [rewrite], []],
  ["a migration rewrites a table", [ledger, rewrite], []],
  ["a migration is about to rewrite a table", [ledger], [rewrite]],
  ["a migration makes a table and rewrites another", [ledger, "create table made (a int)"], [rewrite]]
]

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("waypost backup", (it) => {
  const tidy = Effect.gen(function* () {
    yield* ask(yield* current, "alter table groups drop column if exists drawn")
    yield* ask(yield* current, "drop table if exists made, doomed")
  }).pipe(Effect.orDie)

  it.effect.each(underWay)("holds all rows when it begins while %s", ([, before, after]) =>
    Effect.gen(function* () {
      yield* createGroup()
      const [there] = yield* ask(yield* current, "select count(*)::int as rows from groups")
      const { code, target, text } = yield* beside(before, after)
      assert.strictEqual(code, 0, text)
      assert.strictEqual(groups(target)!.rows, there!["rows"])
      assert.include(groups(target)!.columns, "drawn")
    }).pipe(Effect.ensuring(tidy))
  )

  it.effect("keeps tables from being rewritten while it reads them", () =>
    Effect.gen(function* () {
      yield* createGroup()
      const url = yield* current
      const [there] = yield* ask(url, "select count(*)::int as rows from groups")
      yield* Snapshot.snapshot((tables) =>
        Effect.gen(function* () {
          const table = tables.find(({ name }) => name === "groups")!
          yield* mustWait(url, rewrite)
          assert.lengthOf(yield* Stream.runCollect(Snapshot.rows(table)), Number(there!["rows"]))
        })
      ).pipe(Effect.provide(maintenanceClient))
    }).pipe(Effect.ensuring(tidy))
  )

  it.effect.each([
    ["a table that is taken away", ["create table doomed (a int)"], ["drop table doomed"], []],
    ["a table that is made", [], [rewrite], ["create table made (a int)"]]
  ] as const)("%s while it begins ends it, with a word of why", ([, first, before, after]) =>
    Effect.gen(function* () {
      for (const statement of first) yield* ask(yield* current, statement)
      const { code, text } = yield* beside(before, after)
      assert.deepStrictEqual([code, /made or taken away while this began/.test(text)], [1, true], text)
    }).pipe(Effect.ensuring(tidy))
  )

  it.effect("keeps migrations from beginning, and nobody from the files, while it holds these", () =>
    Effect.gen(function* () {
      const url = yield* current
      yield* Snapshot.holding(
        Effect.gen(function* () {
          yield* mustWait(url, ledger)
          yield* ask(url, "select count(*) from files")
          yield* ask(url, "select count(*) from waypost_migrations")
        })
      ).pipe(Effect.provide(maintenanceClient))
    })
  )
})
