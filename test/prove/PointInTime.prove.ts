import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import postgres, { type Sql } from "postgres"
import { assert, describe, it } from "vitest"
import { seed, start } from "../support/Databases.ts"
import * as Process from "../support/Process.ts"
import * as Service from "../support/Service.ts"
import { until } from "../support/Until.ts"
import { read } from "../docs/Guide.ts"
import { busy } from "./Busy.ts"
import { copyDirectory } from "../support/proofs/BaseBackup.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { violations } from "../support/proofs/Invariants.ts"

const rows = 50_000

/** The row count and a checksum of every table. */
const sums = async (sql: Sql) => {
  const tables = await sql`select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`
  const found: Array<readonly [string, number, string]> = []
  for (const { name } of tables) {
    const [sum] =
      await sql`select count(*)::int as rows, coalesce(md5(string_agg(t::text, e'\n' order by t::text)), '') as md5
      from ${sql(name as string)} t`
    found.push([name as string, sum!["rows"] as number, sum!["md5"] as string])
  }
  return found
}

/** The statements that the guide has after a recovery. */
const afterRecovery = /<<'SQL'\n([^]*?)^SQL$/m.exec(read("docs/backup-and-restore.md"))![1]!

/** Creates a group and returns it once the log has it, with cursors behind it. */
const following = async (service: Service.Service, name: string) => {
  const uuid = await service.create("/v1/groups", { name })
  const feed = await until("the log has the group", async () => {
    const { body } = await service.call("GET", `/v1/groups/${uuid}/history`)
    return body.data.length > 0 && (body.data[0].cursor as string)
  })
  const { body } = await service.call("GET", "/v1/groups/delta?limit=500")
  assert.isFalse(body.more)
  return { feed, delta: body.cursor as string, groups: body.data.length as number }
}

/** Starts PostgreSQL on a data folder to recover it, inspects it, runs the statements of the guide and stops it. */
const recover = async (folder: string) => {
  const began = performance.now()
  await using recovered = await start(folder)
  const seconds = (performance.now() - began) / 1000
  const { sql } = recovered
  const found = await sums(sql)
  const broken = await violations((statement) => sql.unsafe(statement))
  const session = await sql.reserve()
  await session.unsafe(afterRecovery)
  session.release()
  return { seconds, found, broken }
}

describe("point-in-time recovery", () => {
  it("WAL archiving recovers the database to the moment before a truncate", { timeout: 180_000 }, async (ctx) => {
    const { folder, remove } = Process.dataFolder()
    const archive = join(folder, "archive")
    mkdirSync(archive)
    // PostgreSQL may run as another user.
    chmodSync(archive, 0o777)
    const database = await Database.make({
      archive_mode: "on",
      archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
      wal_level: "replica"
    })
    const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    try {
      await database.start()
      const settings = { DATABASE_URL: database.url, WEBHOOK_ALLOW_PRIVATE: "true" }
      await using service = await Service.start(settings, { folder: join(folder, "files") })
      await seed(sql, rows)
      await until("the rows are in the log", async () => (await sql`select from pending_changes limit 1`).length === 0)
      const webhook = await service.create("/v1/webhooks", { url: "https://127.0.0.1/", types: ["post.*"] })
      const before = await following(service, "Before")

      // Take the base backup while clients write.
      const load = busy(service, 4, 1)
      const base = join(folder, "data", "postgres")
      mkdirSync(join(folder, "data"))
      await sql`select pg_backup_start('base', true)`
      copyDirectory(join(database.folder, "postgres"), base)
      const [end] = await sql`select labelfile from pg_backup_stop(false)`
      writeFileSync(join(base, "backup_label"), end!["labelfile"] as string)
      const soon = load.written() + 50
      while (load.written() < soon) await sleep(20)
      await load.stop()
      await service.stop()
      const expected = await sums(sql)
      const [{ moment }] = (await sql`select clock_timestamp()::text as moment`) as unknown as [
        { readonly moment: string }
      ]
      await sleep(50)

      await using later = await Service.start(settings, { folder: join(folder, "files") })
      const lost = await following(later, "Lost")
      await later.stop()
      await sql`truncate locations, users, groups, assets, files, posts, products, api_keys cascade`
      const [after] = await sql`select count(*)::int as rows from locations`
      const [{ file }] = (await sql`select pg_walfile_name(pg_switch_wal()) as file`) as unknown as [
        { readonly file: string }
      ]
      for (let left = 600; !existsSync(join(archive, file)); left--) {
        if (left === 0) throw new Error("The WAL was not archived within 60 seconds")
        await sleep(100)
      }
      await sql.end()
      await database.stop("SIGQUIT")

      mkdirSync(join(base, "pg_wal"), { recursive: true, mode: 0o700 })
      writeFileSync(
        join(base, "postgresql.auto.conf"),
        `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${moment}'\nrecovery_target_action = 'promote'\n`
      )
      writeFileSync(join(base, "recovery.signal"), "")
      const { broken, found, seconds } = await recover(join(folder, "data"))
      // The service starts on the recovered data folder.
      await using again = await Service.start({}, { folder: join(folder, "data") })
      const list = await again.call("GET", "/v1/locations?limit=1")
      const { body: paused } = await again.call("GET", `/v1/webhooks/${webhook}`)
      // The log grows beyond what was lost.
      for (const name of ["One", "Two", "Three"]) await following(again, name)
      const statusOf = async ({ delta, feed }: typeof lost) => {
        const answers = [
          await again.call("GET", `/v1/groups/delta?after=${delta}`),
          await again.call("GET", `/v1/events?after=${feed}`)
        ]
        return answers.map(({ status }) => status)
      }

      const total = (all: typeof found) => all.reduce((sum, [, count]) => sum + count, 0)
      await report(ctx, {
        "rows then": total(expected),
        "rows recovered": total(found),
        "recovery s": seconds,
        violations: broken.length
      })
      assert.strictEqual(after!["rows"], 0)
      assert.isAtLeast(total(expected), rows)
      assert.deepStrictEqual(found, expected)
      assert.deepStrictEqual(broken, [])
      assert.strictEqual(list.status, 200)
      assert.strictEqual(lost.groups, before.groups + 1)
      assert.deepStrictEqual(
        [await statusOf(before), await statusOf(lost)],
        [
          [200, 200],
          [410, 410]
        ]
      )
      assert.strictEqual(paused.data.state, "paused")
    } finally {
      await sql.end({ timeout: 1 })
      await database.remove()
      remove()
    }
  })
})
