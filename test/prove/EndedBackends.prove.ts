import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { type Answer, type Service, start } from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { brokenOf } from "../support/proofs/BrokenInvariants.ts"
import { assertUnavailable, byStatus } from "./Responses.ts"

let database: Database.Database
let service: Service
let locations: ReadonlyArray<string>
let group: string

const location = (identifier: string) => ({ name: "Ended", identifier })

beforeAll(async () => {
  database = await Database.make()
  service = await start({ DATABASE_URL: database.url })
  locations = await Promise.all(
    ["first", "second", "third", "fourth"].map((identifier) => service.create("/v1/locations", location(identifier)))
  )
  group = await service.create("/v1/groups", { name: "Ended" })
}, 60_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await database?.remove()
}, 60_000)

const end = (pid: number) => database.query(`select pg_terminate_backend(${pid})`)

/** Every kind of request: single reads, lists, single-statement writes, and transactions. */
const everything = (round: number) => [
  service.call("GET", `/v1/locations/${locations[0]}`),
  service.call("GET", "/v1/locations?limit=3&filter=name:contains:nde&sortBy=name"),
  service.call("GET", `/v1/groups/${group}/locations`),
  service.call("PATCH", `/v1/locations/${locations[round % 2]}`, { name: `Ended ${round}` }),
  service.call("POST", "/v1/locations", location(`round-${round}`)),
  service.call("PATCH", `/v1/groups/${group}`, { locations: [locations[round % 2], locations[2]] }),
  service.call("GET", "/v1/me")
]

/** Makes the request wait for a lock, and calls `use` with the waiting backend. */
const holding = async <A>(
  lock: string,
  send: () => Promise<Answer>,
  use: (backend: Database.Backend, holder: Database.Session) => Promise<A>
) => {
  const holder = await database.session()
  await holder.query("begin")
  await holder.query(lock)
  const asked = send()
  const waiting = await Database.until("a backend waits for the lock", async () =>
    (await database.backends()).find(({ waits }) => waits === "Lock")
  )
  try {
    await use(waiting, holder)
  } finally {
    await holder.query("rollback").catch(() => undefined)
    await holder.close()
  }
  return asked
}

/** Terminates the backend of a transaction between two statements, with the service stopped after the first. */
const betweenStatements = (lock: string, send: () => Promise<Answer>) =>
  holding(lock, send, async ({ pid }, holder) => {
    service.process.kill("SIGSTOP")
    try {
      await holder.query("rollback")
      await Database.until("the transaction is idle", async () =>
        (await database.backends()).some((backend) => backend.pid === pid && backend.state === "idle in transaction")
      )
      await end(pid)
    } finally {
      service.process.kill("SIGCONT")
    }
  })

const assertServing = async (round: number) => {
  const answers = await Promise.all(everything(round))
  assert.deepStrictEqual(
    answers.filter(({ status }) => status >= 300),
    []
  )
}

describe("terminated connections", () => {
  it("no request fails when idle connections are terminated", async (context) => {
    const answers: Array<Answer> = []
    for (let round = 100; round < 105; round++) {
      const ended = await database.query<{ pid: number }>(
        "select pid, pg_terminate_backend(pid) from pg_stat_activity where application_name = 'waypost'"
      )
      assert.isAtLeast(ended.length, 3)
      const pids = new Set(ended.map(({ pid }) => pid))
      await Database.until("the connections have closed", async () =>
        (await database.backends()).every(({ pid }) => !pids.has(pid))
      )
      answers.push(...(await Promise.all(everything(round))))
    }
    const failed = answers.filter(({ status }) => status >= 300)
    await report(context, { "idle: requests": answers.length, failed: failed.length })
    assert.deepStrictEqual(failed, [])
  })

  it("a connection terminated during a query becomes a 503", async (context) => {
    const update = await holding(
      `select from locations where uuid = '${locations[0]}' for update`,
      () => service.call("PATCH", `/v1/locations/${locations[0]}`, { name: "Never" }),
      ({ pid }) => end(pid)
    )
    const read = await holding(
      "lock table locations in access exclusive mode",
      () => service.call("GET", `/v1/locations/${locations[0]}`),
      ({ pid }) => end(pid)
    )
    await report(context, { "query: write": update.status, read: read.status })
    assertUnavailable(update)
    assertUnavailable(read)
    assert.notStrictEqual((await service.call("GET", `/v1/locations/${locations[0]}`)).body.data.name, "Never")
    await assertServing(200)
  })

  it("a connection terminated in a transaction, during or between statements, becomes a 503 and changes nothing", async (context) => {
    const before = (await service.call("GET", `/v1/groups/${group}`)).body
    const patch = () => service.call("PATCH", `/v1/groups/${group}`, { name: "Never", locations: [locations[3]] })
    const lock = `select from groups where uuid = '${group}' for update`
    const within = await holding(lock, patch, ({ pid }) => end(pid))
    const between = await betweenStatements(lock, patch)
    await report(context, { "transaction: in a statement": within.status, "between two": between.status })
    assertUnavailable(within)
    assertUnavailable(between)
    assert.deepStrictEqual((await service.call("GET", `/v1/groups/${group}`)).body, before)
    await assertServing(300)
  })

  it("a connection terminated before COMMIT becomes a 503, and the transaction is not retried", async (context) => {
    // The last statement of a creation with members takes a lock on the member.
    const lock = `select from locations where uuid = '${locations[3]}' for update`
    const answer = await betweenStatements(lock, () =>
      service.call("POST", "/v1/groups", { name: "Not committed", locations: [locations[3]] })
    )
    await sleep(500)
    const found = (await service.call("GET", "/v1/groups?filter=name:equals:Not committed")).body.pagination.total
    await report(context, { "before COMMIT": answer.status, retried: found })
    assertUnavailable(answer)
    assert.strictEqual(found, 0)
    await assertServing(400)
  })

  it("terminating connections at random moments never causes a 500", async (context) => {
    const answers: Array<Answer> = []
    let ended = 0
    const until = performance.now() + 5000
    const ask = async (client: number) => {
      for (let round = 0; performance.now() < until; round++)
        answers.push(...(await Promise.all(everything(1000 * (client + 1) + round))))
    }
    const asking = Promise.all([0, 1, 2].map(ask))
    for (; performance.now() < until; await sleep(15)) {
      const [row] = await database.query<{ pid: number }>(
        `select pid, pg_terminate_backend(pid) from (select pid from pg_stat_activity
          where application_name = 'waypost' order by state = 'idle', random() limit 1) one`
      )
      if (row !== undefined) ended++
    }
    await asking
    const by = byStatus(answers)
    const refused = by[503] ?? []
    await report(context, { "any moment: ended": ended, requests: answers.length, "503": refused.length })
    assert.isAbove(ended, 50)
    for (const answer of refused) assertUnavailable(answer)
    // A create whose result was lost may have been committed, so its identifier may be taken; it is not sent twice.
    assert.deepStrictEqual(
      Object.keys(by).filter((status) => !["200", "201", "503"].includes(status)),
      []
    )
    await assertServing(500)
  })

  it("terminated connections violate no invariant", async (context) =>
    assert.deepStrictEqual(await brokenOf(context, database.query), []))
})
