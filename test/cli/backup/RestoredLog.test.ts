import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { hexOf } from "../../../src/cli/backup/BackupFolder.ts"
import { ask, command, current, dataFolder, empty, migrated } from "../../support/cli/Backups.ts"
import * as Postgres from "../../support/Postgres.ts"
import { createEverything } from "../../support/proofs/Everything.ts"
import { brokenRelations, brokenSteps, differences } from "../../support/proofs/Replay.ts"
import { eventsAfter } from "../../support/requests/LogRequests.ts"
import { createLocation } from "../../support/requests/ProductRequests.ts"
import * as Service from "../../support/Service.ts"
import * as TestServer from "../../support/TestServer.ts"

const folder = mkdtempSync(join(tmpdir(), "waypost-restored-log-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs an effect while no process seals. */
const whileUnsealed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.andThen(sql`select from event_log for update`, effect))
  ).pipe(Effect.provide(Postgres.untimed))

/** Makes a backup in a new folder. */
const backup = Effect.fnUntraced(function* (name: string) {
  const target = join(folder, name)
  const { code, text } = yield* command(["backup", target], yield* current, yield* dataFolder)
  assert.strictEqual(code, 0, text)
  return target
})

/** Restores a backup into a database and returns its URL. */
const restored = Effect.fnUntraced(function* (source: string, database: typeof empty) {
  const url = yield* database
  const { code, text } = yield* command(["restore", source], url, join(folder, `data-${Math.random()}`))
  assert.strictEqual(code, 0, text)
  return url
})

/** Columns that migrations after the first one of the log add to tables before it. */
const laterColumns: Readonly<Record<string, ReadonlyArray<string>>> = {
  api_keys: ["first_uuid", "rotations", "was_expiring"],
  files: ["rendered_at"],
  locations: ["status", "timezone", "opening_hours", "special_hours"],
  post_language: ["locale"]
}

/** Makes a backup look like one of the last version without a log; its tables are then no tables of that version. */
const withoutLog = (source: string) => {
  const file = join(source, "manifest.json")
  const manifest = JSON.parse(readFileSync(file, "utf8"))
  manifest.migrations.waypost = manifest.migrations.waypost.filter(([id]: readonly [number]) => id <= 25)
  for (const [name, columns] of Object.entries(laterColumns)) {
    const table = manifest.tables.find((table: { readonly name: string }) => table.name === name)
    const isKept = (_: unknown, index: number) => !columns.includes(table.columns[index])
    const path = join(source, "tables", `${name}.ndjson`)
    const rows = readFileSync(path, "utf8").trimEnd().split("\n")
    const text = rows.map((row) => `${JSON.stringify(JSON.parse(row).filter(isKept))}\n`).join("")
    writeFileSync(path, text)
    Object.assign(table, { columns: table.columns.filter(isKept), bytes: Buffer.byteLength(text), sha256: hexOf(text) })
  }
  writeFileSync(file, JSON.stringify(manifest))
  writeFileSync(join(source, "manifest.json.sha256"), hexOf(readFileSync(file)))
}

const query =
  (url: string) =>
  <A>(statement: string) =>
    Effect.runPromise(ask(url, statement)) as unknown as Promise<ReadonlyArray<A>>

layer(TestServer.layer(), { excludeTestServices: true })("the restored log", (it) => {
  it.effect("a backup carries the log and what has no place in it yet, and restoring begins a generation", () =>
    Effect.gen(function* () {
      const { fullKey } = yield* TestServer.TestServer
      yield* createEverything
      const before = yield* eventsAfter()
      const [location, source] = yield* whileUnsealed(Effect.all([createLocation({ name: "Unsealed" }), backup("log")]))
      yield* createLocation({ name: "Later" })
      const later = yield* eventsAfter(before.cursor)
      assert.lengthOf(later.events, 2)

      const url = yield* restored(source, migrated)
      const [counts] = yield* ask(
        url,
        `select (select count(*)::int from events) as events, (select count(*)::int from pending_changes) as pending,
          (select count(*)::int from event_generations) as generations`
      )
      assert.deepStrictEqual(counts, { events: before.events.length + 1, pending: 0, generations: 2 })
      const { code, text } = yield* command(["audit", "verify"], url, yield* dataFolder)
      assert.strictEqual(code, 0, text)
      assert.deepStrictEqual(yield* Effect.promise(() => differences(query(url))), [])

      yield* Effect.promise(async () => {
        await using service = await Service.start({ DATABASE_URL: url })
        const call = Service.callTo(service.url, fullKey)
        const valid = await call("GET", `/v1/events?after=${before.cursor}`)
        assert.deepStrictEqual(
          valid.body.data.map(({ record }: (typeof before.events)[0]) => [record.uuid, record.label]),
          [[location, "Unsealed"]]
        )
        // The first event after the backup has the position that another one has here.
        for (const { cursor } of later.events) {
          const { body, status } = await call("GET", `/v1/events?after=${cursor}`)
          assert.deepStrictEqual([status, body._tag], [410, "CursorExpiredError"])
        }
        const own = await call("GET", `/v1/events?after=${valid.body.cursor}`)
        assert.deepStrictEqual([own.status, own.body.data], [200, []])
      })
    })
  )

  it.effect("records made before there was a log have one created event each, which replay to the same state", () =>
    Effect.gen(function* () {
      const source = yield* backup("old")
      withoutLog(source)
      const url = yield* restored(source, empty)
      const kinds = yield* ask(
        url,
        `select action, actor->>'type' as actor, count(*)::int - count(distinct record_uuid)::int as repeated from events group by 1, 2`
      )
      assert.deepStrictEqual(kinds, [{ action: "created", actor: "system", repeated: 0 }])
      const [types] = yield* ask(url, "select count(distinct type)::int as types from events")
      assert.strictEqual(types!["types"], 9)
      for (const check of [differences, brokenSteps, brokenRelations]) {
        assert.deepStrictEqual(yield* Effect.promise(() => check(query(url)) as Promise<ReadonlyArray<unknown>>), [])
      }
      const { code, text } = yield* command(["audit", "verify"], url, yield* dataFolder)
      assert.strictEqual(code, 0, text)
    })
  )
})
