import { NodeServices } from "@effect/platform-node"
import { Effect, Option } from "effect"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import postgres, { type Sql } from "postgres"
import { assert, describe, it } from "vitest"
import { seed } from "../support/Databases.ts"
import { storageKey } from "../../src/domain/assets/File.ts"
import { manifestOf } from "../support/cli/Backups.ts"
import * as Command from "../support/cli/Command.ts"
import * as Postmaster from "../../src/postgres/Postmaster.ts"
import * as Process from "../support/Process.ts"
import { busy, upload } from "./Busy.ts"
import { report } from "../support/proofs/Figures.ts"
import { violations } from "../support/proofs/Invariants.ts"
import * as OtherPostgres from "../support/proofs/OtherPostgres.ts"
import * as Running from "../support/proofs/Running.ts"

const rows = 50_000

const waypost = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const began = performance.now()
  const { code, err, out } = await Command.start(args, env).result
  assert.strictEqual(code, 0, out + err)
  return (performance.now() - began) / 1000
}

const queryOf = (sql: Sql) => (statement: string) =>
  sql.unsafe(statement) as Promise<ReadonlyArray<Record<string, unknown>>>

/** Removes expired unattached files as the sweeper does, one at a time, until stopped. */
const sweeping = (sql: Sql, objects: string) => {
  const stopping = new AbortController()
  let swept = 0
  const working = (async () => {
    while (!stopping.signal.aborted) {
      const gone = await sql<Array<{ readonly uuid: string }>>`
        delete from files where uuid = any (array(select uuid from files
          where unattached_since < now() - interval '7 days' order by unattached_since limit 1 for update skip locked
        )) returning uuid`
      for (const { uuid } of gone) rmSync(join(objects, storageKey(uuid)))
      swept += gone.length
      await sleep(40)
    }
  })()
  return {
    stop: async () => {
      stopping.abort()
      await working
      return swept
    }
  }
}

/** A restore gives the changes that wait their places in the log, and begins a generation of it. */
const isOfLog = (name: string) => /^(event_generations|event_links|event_log$|events$|pending_changes$)/.test(name)

/** A hash of the rows of a table in any order: it keeps them in the order in which they fit into its pages. */
const sumOf = (folder: string, table: string) => {
  const lines = readFileSync(join(folder, `tables/${table}.ndjson`), "utf8").split("\n")
  return createHash("sha256").update(lines.toSorted().join("\n")).digest("hex")
}

/** What a backup has in common with that of its restoration. */
const sums = (folder: string) => {
  const { files, sequences, tables } = manifestOf(folder)
  const changes = tables.filter(({ name }) => name === "events" || name === "pending_changes")
  return {
    files,
    sequences: sequences.filter(({ name }) => !isOfLog(name)),
    tables: tables
      .filter(({ name }) => !isOfLog(name))
      .map(({ name, rows }) => ({ name, rows, sum: sumOf(folder, name) })),
    changes: changes.reduce((sum, { rows }) => sum + rows, 0)
  }
}

/** Seconds from the end of the first table dump to the end of the last. */
const readingSeconds = (backup: string) => {
  const tables = join(backup, "tables")
  const times = readdirSync(tables).map((name) => statSync(join(tables, name)).mtimeMs)
  return (Math.max(...times) - Math.min(...times)) / 1000
}

describe("backup and restore", () => {
  it(
    "a backup taken while clients write and upload restores completely and can be served",
    { timeout: 180_000 },
    async (ctx) => {
      const { folder, remove } = Process.dataFolder()
      try {
        await using running = await Running.start()
        const [first, second, data] = [join(folder, "first"), join(folder, "second"), join(folder, "data")]
        await seed(running.sql, rows)
        // Files that expire during the backup.
        for (let left = 120; left > 0; left -= 6)
          await Promise.all(Array.from({ length: 6 }, () => upload(running, 1000)))
        const load = busy(running, 4, 2)
        while (load.acknowledged.files.size < 20 || load.written() < 100) await sleep(20)
        const { url } = await upload(running, 5000)
        const identifiers = [...load.acknowledged.identifiers]
        const files = [...load.acknowledged.files]
        await running.sql`update files set unattached_since = now() - interval '8 days'
        where unattached_since is not null and size = 1000`
        await running.sql`update upload_sessions set created_at = now() - interval '8 days', expires_at = now() - interval '7 days'
        where file_uuid in (select uuid from files where unattached_since < now() - interval '7 days')`
        const sweeper = sweeping(running.sql, join(running.folder, "files/objects"))
        const watched = load.watch()
        const backupSeconds = await waypost(["backup", first], { DATA_DIR: running.folder })
        const met = watched()
        const swept = await sweeper.stop()
        await load.stop()
        await running.stop()

        const restoreSeconds = await waypost(["restore", first], { DATA_DIR: data })
        await waypost(["audit", "verify"], { DATA_DIR: data })
        await waypost(["backup", second], { DATA_DIR: data })
        const service = await Process.start({ DATA_DIR: data })
        const sql = postgres({ ...(await Running.socketOf(data)), max: 2 })
        const broken = await violations(queryOf(sql), join(data, "files/objects"), Infinity)
        const kept = new Set((await sql`select identifier from locations`).map((row) => row["identifier"] as string))
        const lost = identifiers.filter((identifier) => !kept.has(identifier))
        const lostFiles = files.filter((uuid) => !existsSync(join(data, "files/objects", storageKey(uuid))))
        const list = await Running.callTo(service.url)("GET", "/v1/locations?limit=1")
        // A URL that was signed before the backup is valid after the restore.
        const old = await fetch(url.replace(running.url, service.url))
        await sql.end()
        service.process.kill("SIGTERM")
        await service.exited

        const held = readFileSync(join(first, "files.ndjson"), "utf8").split('"size":1000,').length - 1
        const { files: stored, tables } = manifestOf(first)
        const total = tables.reduce((sum, table) => sum + table.rows, 0)
        await report(ctx, {
          rows: total,
          files: stored.count,
          MB: (tables.reduce((sum, table) => sum + table.bytes, 0) + stored.bytes) / 1e6,
          "backup s": backupSeconds,
          "of which reading rows s": readingSeconds(first),
          "restore s": restoreSeconds,
          "writes during the backup": met.written,
          "rejected during the backup": met.refused,
          "longest wait s": met.longestWait,
          "files swept during the backup": swept,
          "of which in the backup": held,
          lost: lost.length + lostFiles.length,
          violations: broken.length
        })
        assert.deepStrictEqual(sums(second), sums(first))
        assert.deepStrictEqual([lost, lostFiles, broken], [[], [], []])
        // Writes are acknowledged while rows are read, not only before and after.
        assert.isAbove(met.written, 0)
        assert.isAtMost(met.refused, met.written / 20)
        assert.isBelow(met.longestWait, readingSeconds(first) * 0.75)
        assert.isAbove(held, 0)
        assert.isAtLeast(total, rows)
        assert.deepStrictEqual([list.status, old.status], [200, 200])
        assert.strictEqual(list.body.pagination.total, tables.find(({ name }) => name === "locations")!.rows)
      } finally {
        remove()
      }
    }
  )

  it("a restore that was killed can be repeated", { timeout: 120_000 }, async (ctx) => {
    const { folder, remove } = Process.dataFolder()
    try {
      await using running = await Running.start()
      const [first, second, data] = [join(folder, "first"), join(folder, "second"), join(folder, "data")]
      await seed(running.sql, 20_000)
      await upload(running, 5000)
      await running.stop()
      await waypost(["backup", first], { DATA_DIR: running.folder })
      const killed = Command.start(["restore", first], { DATA_DIR: data })
      let ended: string | undefined
      void killed.result.then(({ code, err, out }) => (ended = `${code}: ${out}${err}`))
      while (!(await isFilling(data))) {
        if (ended !== undefined) throw new Error(`The restore ended before it could be killed, with ${ended}`)
        await sleep(5)
      }
      killed.process.kill("SIGKILL")
      await killed.result
      await waypost(["restore", first], { DATA_DIR: data })
      await waypost(["backup", second], { DATA_DIR: data })
      await report(ctx, { "after a kill": "restored" })
      assert.deepStrictEqual(sums(second), sums(first))
    } finally {
      remove()
    }
  })

  it("a backup moves data from PostgreSQL 18 to 15 and back", { timeout: 120_000 }, async (ctx) => {
    const { folder, remove } = Process.dataFolder()
    try {
      await using running = await Running.start()
      const [from18, from15, back] = [join(folder, "18"), join(folder, "15"), join(folder, "back")]
      await seed(running.sql, 10_000)
      const { fileUuid } = await upload(running, 5000)
      await running.call("POST", "/v1/assets", { fileUuid, translations: [{ locale: "el", name: "Ὀδυσσεύς ΣΊΣΥΦΟΣ" }] })
      await running.stop()
      await waypost(["backup", from18], { DATA_DIR: running.folder })

      await using other = await OtherPostgres.start(join(folder, "postgres-15"))
      const at15 = { DATABASE_URL: other.url, DATA_DIR: join(folder, "at15") }
      mkdirSync(at15.DATA_DIR)
      await waypost(["restore", from18], at15)
      await waypost(["backup", from15], at15)
      const service = await Process.start(at15)
      const found = await Running.callTo(service.url)(
        "GET",
        "/v1/assets/search?search=%CF%83%CE%AF%CF%83%CF%85%CF%86%CE%BF%CF%83"
      )
      service.process.kill("SIGTERM")
      await service.exited
      const broken = await violations(queryOf(other.sql), join(at15.DATA_DIR, "files/objects"))

      const data = join(folder, "data")
      await waypost(["restore", from15], { DATA_DIR: data })
      await waypost(["backup", back], { DATA_DIR: data })
      await report(ctx, { "major versions": "18 to 15 to 18", violations: broken.length })
      assert.deepStrictEqual(sums(from15), sums(from18))
      assert.deepStrictEqual(sums(back), sums(from18))
      assert.deepStrictEqual(broken, [])
      assert.deepStrictEqual([found.status, found.body.data?.length], [200, 1], found.text)
    } finally {
      remove()
    }
  })
})

/** Whether a restore has reached the rows: the files are stored, and all tables are locked. */
const isFilling = async (data: string) => {
  const objects = join(data, "files/objects")
  if (!existsSync(objects) || readdirSync(objects).length === 0) return false
  const found = await Effect.runPromise(
    Postmaster.read(join(data, "postgres")).pipe(Effect.provide(NodeServices.layer))
  )
  const { ready, socket: path } = Option.getOrElse(found, () => ({ ready: false, socket: "" }))
  if (!ready) return false
  const sql = postgres({ path, username: "waypost", database: "postgres", max: 1 })
  const held = await sql`select from pg_locks where locktype = 'relation' and mode = 'AccessExclusiveLock'`
  await sql.end({ timeout: 1 })
  return held.length > 50
}
