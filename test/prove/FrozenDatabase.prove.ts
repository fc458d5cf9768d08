import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { type Answer, type Service, start } from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { assertUnavailable, byStatus, slowest } from "./Served.ts"

const limitMillis = 20_300

let database: Database.Database
let service: Service
let location: string
let written = 0

beforeAll(async () => {
  database = await Database.make()
  service = await start({ DATABASE_URL: database.url })
  location = await service.create("/v1/locations", { name: "Frozen", identifier: "frozen" })
}, 60_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await database?.remove()
}, 60_000)

/** Twenty requests at once: reads, single writes and transactions. */
const twenty = () =>
  Promise.all(
    Array.from({ length: 5 }, () => [
      service.call("GET", `/v1/locations/${location}`),
      service.call("GET", "/v1/locations?filter=name:contains:roze&sortBy=name"),
      service.call("POST", "/v1/locations", { name: "Frozen", identifier: `frozen-${written++}` }),
      service.call("POST", "/v1/groups", { name: `Frozen ${written++}`, locations: [location] })
    ]).flat()
  )

const assertWell = (answers: ReadonlyArray<Answer>) =>
  assert.deepStrictEqual(
    answers.filter(({ status }) => status >= 300),
    []
  )

/** Every answer comes in time, and says 503 or the truth. */
const assertInTime = (answers: ReadonlyArray<Answer>) => {
  assert.isAtMost(slowest(answers), limitMillis)
  assert.deepStrictEqual(
    Object.keys(byStatus(answers)).filter((status) => !["200", "201", "503"].includes(status)),
    []
  )
}

/** Asks while the processes are frozen, and again once they are not. */
const freeze = async (context: Parameters<typeof report>[0], name: string, pids: ReadonlyArray<number>) => {
  for (const pid of pids) process.kill(pid, "SIGSTOP")
  const answers = await twenty().finally(() => {
    for (const pid of pids) process.kill(pid, "SIGCONT")
  })
  const afterwards = await twenty()
  const refused = answers.filter(({ status }) => status === 503).length
  await report(context, {
    [`${name}: slowest s`]: slowest(answers) / 1000,
    "503": refused,
    "afterwards slowest ms": slowest(afterwards)
  })
  assertInTime(answers)
  assertWell(afterwards)
  assert.isAtMost(slowest(afterwards), 2000)
  return refused
}

/** What is left of the connections that were frozen. */
const leftOf = async (pids: ReadonlyArray<number>) =>
  (await database.backends()).filter(({ pid }) => pids.includes(pid)).length

describe("a database that hangs", () => {
  it("one connection", async (context) => {
    assertWell(await twenty())
    const backend = (await database.backends()).find(({ state }) => state === "idle")
    assert.isDefined(backend)
    await freeze(context, "one", [backend.pid])
  })

  it("every connection, which are replaced", async (context) => {
    assertWell(await twenty())
    const pids = (await database.backends()).map(({ pid }) => pid)
    assert.isAtLeast(pids.length, 5)
    const refused = await freeze(context, "all", pids)
    assert.isAbove(refused, 0)
    // Twenty requests at once want more connections than there are, so that every one of these was waited for.
    await Database.until("no frozen connection is left", async () => (await leftOf(pids)) === 0)
  })

  it("the whole server", async (context) => {
    assertWell(await twenty())
    const pids = (await database.backends()).map(({ pid }) => pid)
    assert.isAbove(await freeze(context, "server", [...pids, database.postmaster()]), 0)
  })

  it("late in a request that has been slow all along", async (context) => {
    // Each statement takes less than a statement may, and all of them together longer than a request may.
    await database.query(`create function slow() returns trigger language plpgsql as $$
      begin perform pg_sleep(4.5); return null; end $$`)
    for (const table of ["groups", "user_groups", "group_locations"]) {
      await database.query(`create trigger slow after insert or delete on ${table} execute function slow()`)
    }
    const asked = service.call("POST", "/v1/groups", { name: "Slow", users: [], locations: [location] })
    const backend = await Database.until("it runs", async () =>
      (await database.backends()).find(({ state }) => state === "active")
    )
    await sleep(19_000)
    process.kill(backend.pid, "SIGSTOP")
    const answer = await asked.finally(() => process.kill(backend.pid, "SIGCONT"))
    await database.query("drop function slow() cascade")
    const afterwards = await twenty()
    await report(context, { "late: s": answer.millis / 1000 })
    assert.isAtLeast(answer.millis, 19_000)
    assertInTime([answer])
    assertUnavailable(answer)
    assertWell(afterwards)
  })
})
