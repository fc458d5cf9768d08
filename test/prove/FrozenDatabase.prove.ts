import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { type Answer, type Service, start } from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { assertUnavailable, byStatus, slowest } from "./Responses.ts"

const limitMillis = 20_300

let database: Database.Database
let service: Service
let location: string
let user: string
let written = 0

beforeAll(async () => {
  database = await Database.make()
  service = await start({ DATABASE_URL: database.url, KEY_SHARE: "1" })
  location = await service.create("/v1/locations", { name: "Frozen", identifier: "frozen" })
  user = await service.create("/v1/users", { username: "frozen", email: "frozen@example.com" })
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

/** Every response arrives in time and is a success or a 503. */
const assertInTime = (answers: ReadonlyArray<Answer>) => {
  assert.isAtMost(slowest(answers), limitMillis)
  assert.deepStrictEqual(
    Object.keys(byStatus(answers)).filter((status) => !["200", "201", "503"].includes(status)),
    []
  )
}

/** Sends requests while the processes are frozen, and again after they continue. */
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

/** How many of the frozen connections are still open. */
const frozenCount = async (pids: ReadonlyArray<number>) =>
  (await database.backends()).filter(({ pid }) => pids.includes(pid)).length

describe("a frozen database", () => {
  it("requests end in time when one connection is frozen", async (context) => {
    assertWell(await twenty())
    const backend = (await database.backends()).find(({ state }) => state === "idle")
    assert.isDefined(backend)
    await freeze(context, "one", [backend.pid])
  })

  it("requests end in time when every connection is frozen, and the connections are replaced", async (context) => {
    assertWell(await twenty())
    const pids = (await database.backends()).map(({ pid }) => pid)
    assert.isAtLeast(pids.length, 6)
    const refused = await freeze(context, "all", pids)
    assert.isAbove(refused, 0)
    // Those that requests used are closed. Those of lookups of keys and of jobs may not have been used in that time.
    await Database.until("most connections are replaced", async () => (await frozenCount(pids)) <= pids.length / 2)
  })

  it("requests end in time when the whole server is frozen", async (context) => {
    assertWell(await twenty())
    const pids = (await database.backends()).map(({ pid }) => pid)
    assert.isAbove(await freeze(context, "server", [...pids, database.postmaster()]), 0)
  })

  it("a slow request ends in time when its connection is frozen late", async (context) => {
    // Each statement stays below the statement timeout; the last one is frozen when most of the time of the request is over.
    await database.query(`create function slow() returns trigger language plpgsql as $$
      begin perform pg_sleep(4.5); return null; end $$`)
    for (const table of ["groups", "user_groups", "group_locations"]) {
      await database.query(`create trigger slow after insert on ${table} execute function slow()`)
    }
    const asked = service.call("POST", "/v1/groups", { name: "Slow", users: [user], locations: [location] })
    const backend = await Database.until("the request runs", async () =>
      (await database.backends()).find(({ state }) => state === "active")
    )
    await sleep(12_000)
    process.kill(backend.pid, "SIGSTOP")
    const answer = await asked.finally(() => process.kill(backend.pid, "SIGCONT"))
    await database.query("drop function slow() cascade")
    const afterwards = await twenty()
    await report(context, { "late: s": answer.millis / 1000 })
    assert.isAtLeast(answer.millis, 12_000)
    assertInTime([answer])
    assertUnavailable(answer)
    assertWell(afterwards)
  })
})
