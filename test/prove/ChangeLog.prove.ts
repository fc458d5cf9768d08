import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import * as Service from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { brokenRelations, brokenSteps, differences } from "../support/proofs/Replay.ts"
import { RandomWrites } from "./RandomWrites.ts"

const writes = Number(process.env["LOG_WRITES"] ?? 20_000)
const seed = Number(process.env["LOG_SEED"] ?? 15)
const writers = 8
const kills = 8

let database: Database.Database

beforeAll(async () => {
  database = await Database.make()
}, 60_000)

afterAll(() => database?.remove(), 60_000)

/** Rows of files without bytes, which assets of the random writes take. */
const files = async () => {
  const rows = await database.query<{ readonly uuid: string }>(`
    insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
      select gen_random_uuid(), 'f' || i || '.txt', 'txt', 'text/plain', 1, '', 'f' || i || '.txt', 'f' || i || '.txt'
      from generate_series(1, ${writes}) i returning uuid::text`)
  return rows.map(({ uuid }) => uuid)
}

/** A service that starts is left alone. */
type State = "starting" | "serving" | "over"

/** Ends a connection of the service now and then, and keeps a transaction with unsealed changes open. */
const disturb = async (state: () => State) => {
  let ended = 0
  const holder = await database.session()
  await holder.query("begin")
  await holder.query("insert into groups (uuid, name) values (gen_random_uuid(), 'Never committed')")
  while (state() !== "over") {
    await sleep(1000)
    if (state() !== "serving") continue
    const rows = await database.query<{ readonly pid: number }>(`
      select pid, pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'waypost' and backend_type = 'client backend' and state <> 'idle' order by random() limit 1`)
    ended += rows.length
  }
  await holder.query("rollback")
  await holder.close()
  return ended
}

describe("the change log under random writes", () => {
  it(`${writes.toLocaleString("en")} writes by every path, with kill -9 and ended connections, leave a log that gives the records exactly`, async (ctx) => {
    await (await Service.start({ DATABASE_URL: database.url }))[Symbol.asyncDispose]()
    const all = await files()
    const share = all.length / writers
    const clients = Array.from(
      { length: writers },
      (_, index) => new RandomWrites(seed * writers + index, all.slice(index * share, (index + 1) * share))
    )
    const done = () => clients.reduce((sum, { broken, writes }) => sum + writes + broken, 0)
    let state: State = "starting"
    const disturbed = disturb(() => state)
    for (let round = 1; round <= kills + 1; round++) {
      const service = await Service.start({ DATABASE_URL: database.url })
      const ending = new AbortController()
      state = "serving"
      const goal = (writes / (kills + 1)) * round
      const write = async (client: RandomWrites) => {
        while (!ending.signal.aborted) await client.next(service.call)
      }
      const writing = Promise.all(clients.map(write))
      await Database.until("enough was written", () => done() >= goal, 600)
      ending.abort()
      state = round <= kills ? "starting" : "over"
      // All writers have a request under way.
      if (round <= kills) service.process.kill("SIGKILL")
      await writing
      if (round <= kills) await service.exited
      else {
        await disturbed
        await Database.until("everything is sealed", async () => {
          const [row] = await database.query<{ readonly rows: number }>(
            "select count(*)::int as rows from pending_changes"
          )
          return row!.rows === 0
        })
      }
      await service[Symbol.asyncDispose]()
    }
    const ended = await disturbed
    const statuses: Record<string, number> = {}
    for (const client of clients) {
      for (const [status, count] of client.statuses) statuses[status] = (statuses[status] ?? 0) + count
    }
    const [events] = await database.query<{
      readonly events: number
      readonly types: number
      readonly actors: number
    }>(`
        select count(*)::int as events, count(distinct type || '.' || action)::int as types,
          count(distinct actor->>'type')::int as actors from events`)
    const [missing, steps, relations] = [
      await differences(database.query),
      await brokenSteps(database.query),
      await brokenRelations(database.query)
    ]
    await report(ctx, {
      writes: done(),
      ...Object.fromEntries(Object.entries(statuses).map(([status, count]) => [`status ${status}`, count])),
      "broken connections": clients.reduce((sum, { broken }) => sum + broken, 0),
      "ended backends": ended,
      ...events!,
      "unexplained values": missing.length + steps.length + relations.length
    })
    assert.deepStrictEqual(missing, [])
    assert.deepStrictEqual(steps, [])
    assert.deepStrictEqual(relations, [])
    assert.isAtLeast(done(), writes)
    assert.isAtLeast(statuses["200"]! + statuses["201"]!, writes / 3)
    assert.isAbove(ended, 0)
    assert.strictEqual(events!.actors, 3)
  }, 1_200_000)
})
