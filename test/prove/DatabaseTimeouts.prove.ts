import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import { type Service, start } from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { assertUnavailable } from "./Responses.ts"

let database: Database.Database
let service: Service
let location: string
let group: string

beforeAll(async () => {
  database = await Database.make()
  service = await start({ DATABASE_URL: database.url })
  location = await service.create("/v1/locations", { name: "Timed", identifier: "timed" })
  group = await service.create("/v1/groups", { name: "Timed" })
}, 60_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await database?.remove()
}, 60_000)

const pids = async () => (await database.backends()).map(({ pid }) => pid)

const patch = (name: string) => service.call("PATCH", `/v1/locations/${location}`, { name })

/** Requests succeed, and the request that timed out has changed nothing. */
const assertWell = async () => {
  const read = await service.call("GET", `/v1/locations/${location}`)
  assert.strictEqual(read.body.data.name, "Timed")
  const answers = await Promise.all(Array.from({ length: 20 }, () => patch("Timed")))
  assert.deepStrictEqual(
    answers.filter(({ status }) => status !== 200),
    []
  )
}

/** Holds a lock while the request is answered. */
const locked = async <A>(lock: string, use: (holder: Database.Session) => Promise<A>) => {
  const holder = await database.session()
  await holder.query("begin")
  await holder.query(lock)
  return use(holder).finally(async () => {
    await holder.query("rollback").catch(() => undefined)
    await holder.close()
  })
}

describe("timeouts of the database", () => {
  it("a statement timeout becomes a 503, and its connection is kept", async (context) => {
    await database.query(`create function sleeping() returns trigger language plpgsql as $$
      begin perform pg_sleep(15); return new; end $$`)
    await database.query(
      "create trigger sleeping before update on locations for each row when (new.name = 'Slow') execute function sleeping()"
    )
    const before = await pids()
    const answer = await patch("Slow")
    await database.query("drop function sleeping() cascade")
    await report(context, { "statement: s": answer.millis / 1000 })
    assertUnavailable(answer)
    assert.include(answer.body.message, "timed out")
    assert.isAtMost(answer.millis, 6000)
    await assertWell()
    assert.includeMembers(await pids(), before)
  })

  it("a lock timeout of a write or a read becomes a 503, and the connection is kept", async (context) => {
    const before = await pids()
    const [write, read] = await locked("lock table locations in access exclusive mode", () =>
      Promise.all([patch("Locked"), service.call("GET", `/v1/locations/${location}`)])
    )
    await report(context, { "lock: write s": write.millis / 1000, "read s": read.millis / 1000 })
    assertUnavailable(write)
    assertUnavailable(read)
    assert.isAtMost(Math.max(write.millis, read.millis), 4000)
    await assertWell()
    assert.includeMembers(await pids(), before)
  })

  it("a transaction that is idle for too long becomes a 503 and is rolled back", async (context) => {
    const before = (await service.call("GET", `/v1/groups/${group}`)).body
    const lock = `select from groups where uuid = '${group}' for update`
    const asked = await locked(lock, async (holder) => {
      const asked = service.call("PATCH", `/v1/groups/${group}`, { name: "Alone", locations: [location] })
      const { pid } = await Database.until("the request waits for the lock", async () =>
        (await database.backends()).find(({ waits }) => waits === "Lock")
      )
      // Stop the process while its transaction is open, as when its machine is suspended.
      service.process.kill("SIGSTOP")
      try {
        await holder.query("rollback")
        await Database.until("the database ends the transaction", async () =>
          (await database.backends()).every((backend) => backend.pid !== pid)
        )
      } finally {
        service.process.kill("SIGCONT")
      }
      return [await asked]
    })
    const [answer] = asked
    await sleep(100)
    await report(context, { "idle transaction: s": answer!.millis / 1000 })
    assertUnavailable(answer!)
    assert.match(database.log(), /idle-in-transaction timeout/)
    assert.deepStrictEqual((await service.call("GET", `/v1/groups/${group}`)).body, before)
    await assertWell()
  })
})
