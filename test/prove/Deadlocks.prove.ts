import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { type Answer, type Service, start } from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { byStatus, slowest } from "./Responses.ts"

const clients = 16
const increments = 10

let database: Database.Database
let service: Service
let locations: ReadonlyArray<string>
let users: ReadonlyArray<string>
let groups: ReadonlyArray<string>

const three = (create: (index: number) => Promise<string>) => Promise.all([0, 1, 2].map(create))

beforeAll(async () => {
  database = await Database.make()
  service = await start({ DATABASE_URL: database.url })
  locations = await three((index) =>
    service.create("/v1/locations", { name: "Crossed", identifier: `crossed-${index}` })
  )
  groups = await three((index) => service.create("/v1/groups", { name: `Crossed ${index}` }))
  users = await three((index) =>
    service.create("/v1/users", {
      username: `crossed-${index}`,
      email: `crossed-${index}@example.com`,
      firstName: "Crossed",
      lastName: "Over"
    })
  )
}, 60_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await database?.remove()
}, 60_000)

const deadlocks = async () => {
  await database.query("select pg_stat_force_next_flush()")
  const [row] = await database.query<{ deadlocks: number }>(
    "select deadlocks::int from pg_stat_database where datname = current_database()"
  )
  return row!.deadlocks
}

/** The number of serialization failures that PostgreSQL has logged. */
const conflicts = () => database.log().split("ERROR:  could not serialize access").length - 1

const assertNoneSeen = (answers: ReadonlyArray<Answer>, ...expected: ReadonlyArray<string>) =>
  assert.deepStrictEqual(
    Object.keys(byStatus(answers)).filter((status) => !expected.includes(status)),
    [],
    JSON.stringify(answers.find(({ status }) => status >= 500)?.body)
  )

/** Makes a request the victim of a deadlock: it holds one row and waits for our row, then we wait for its row. */
const cross = async (send: () => Promise<Answer>, first: string, second: string) => {
  const other = await database.session()
  await other.query("begin")
  // The session whose deadlock_timeout ends first detects the deadlock and is aborted.
  await other.query("set local deadlock_timeout = '20s'")
  await other.query(first)
  const asked = send()
  await Database.until("the request waits for our row", async () =>
    (await database.backends()).some(({ waits }) => waits === "Lock")
  )
  await other.query(second)
  await other.query("commit")
  await other.close()
  return asked
}

describe("conflicting writes", () => {
  it("the victim of a deadlock is retried, in a transaction and as a single statement", async (context) => {
    const before = await deadlocks()
    await database.query(`create function crossing() returns trigger language plpgsql as
      $$ begin perform from groups where uuid = '${groups[1]}' for update; return null; end $$`)
    await database.query("create trigger crossing after update on groups execute function crossing()")
    const transaction = await cross(
      () => service.call("PATCH", `/v1/groups/${groups[0]}`, { name: "Second try" }),
      `select from groups where uuid = '${groups[1]}' for update`,
      `update groups set description = 'First' where uuid = '${groups[0]}'`
    )
    await database.query("drop trigger crossing on groups")
    await database.query("create trigger crossing after update on locations execute function crossing()")
    const statement = await cross(
      () => service.call("PATCH", `/v1/locations/${locations[1]}`, { name: "Second try" }),
      `select from groups where uuid = '${groups[1]}' for update`,
      `select from locations where uuid = '${locations[1]}' for update`
    )
    const etag = (await service.call("GET", `/v1/locations/${locations[2]}`)).headers.get("etag")
    const conditional = await cross(
      () => service.call("PATCH", `/v1/locations/${locations[2]}`, { name: "Second try" }, { "if-match": etag! }),
      `select from groups where uuid = '${groups[1]}' for update`,
      `select from locations where uuid = '${locations[2]}' for update`
    )
    await database.query("drop function crossing() cascade")
    const found = (await deadlocks()) - before
    const answers = [transaction, statement, conditional]
    await report(context, {
      deadlocks: found,
      "slowest ms": slowest(answers),
      rejected: answers.filter(({ status }) => status !== 200).length
    })
    assertNoneSeen(answers, "200")
    assert.strictEqual(found, 3)
    assert.strictEqual((await service.call("GET", `/v1/groups/${groups[0]}`)).body.data.name, "Second try")
    assert.strictEqual((await service.call("GET", `/v1/locations/${locations[1]}`)).body.data.name, "Second try")
    assert.strictEqual((await service.call("GET", `/v1/locations/${locations[2]}`)).body.data.name, "Second try")
  })

  it("crossed updates of memberships and records all succeed", async (context) => {
    const before = await deadlocks()
    const answers: Array<Answer> = []
    const began = performance.now()
    const client = async (index: number) => {
      for (let round = index; performance.now() - began < 4000; round++) {
        const turned = <A>(all: ReadonlyArray<A>) => [...all.slice(round % 3), ...all.slice(0, round % 3)].slice(0, 2)
        const one = <A>(all: ReadonlyArray<A>) => all[round % 3]!
        const requests = [
          () =>
            service.call("PATCH", `/v1/groups/${one(groups)}`, { locations: turned(locations), users: turned(users) }),
          () => service.call("PUT", `/v1/users/${one(users)}/groups`, { groups: turned(groups) }),
          () => service.call("PUT", `/v1/locations/${one(locations)}/groups`, { groups: turned(groups) }),
          () => service.call("PUT", `/v1/locations/${one(locations)}/users`, { users: turned(users) }),
          () => service.call("PATCH", `/v1/locations/${one(locations)}`, { name: `Crossed ${round}` })
        ]
        answers.push(await requests[(index + round) % requests.length]!())
      }
    }
    await Promise.all(Array.from({ length: clients }, (_, index) => client(index)))
    await report(context, {
      "crossed: requests": answers.length,
      deadlocks: (await deadlocks()) - before,
      rejected: answers.filter(({ status }) => status >= 300).length
    })
    assertNoneSeen(answers, "200")
    assert.isAbove(answers.length, 100)
  })

  it("with serializable transactions all increments are counted and no client sees a serialization failure", async (context) => {
    await database.query("alter database postgres set default_transaction_isolation = 'serializable'")
    const ended = await database.query<{ pid: number }>(
      "select pid, pg_terminate_backend(pid) from pg_stat_activity where application_name = 'waypost'"
    )
    const pids = new Set(ended.map(({ pid }) => pid))
    await Database.until("connections that are not serializable have closed", async () =>
      (await database.backends()).every(({ pid }) => !pids.has(pid))
    )
    const path = `/v1/locations/${locations[0]}`
    assert.strictEqual((await service.call("PATCH", path, { name: "0" })).status, 200)
    const before = conflicts()
    const answers: Array<Answer> = []
    const increment = async () => {
      for (;;) {
        const read = await service.call("GET", path)
        const name = String(Number(read.body.data.name) + 1)
        const written = await service.call("PATCH", path, { name }, { "if-match": read.headers.get("etag")! })
        answers.push(read, written)
        if (written.status !== 412) return
      }
    }
    const client = async () => {
      for (let done = 0; done < increments; done++) await increment()
    }
    await Promise.all(Array.from({ length: clients }, client))
    const final = Number((await service.call("GET", path)).body.data.name)
    const unconditional = await Promise.all(
      Array.from({ length: 100 }, (_, index) => service.call("PATCH", path, { name: `Any ${index}` }))
    )
    await database.query("alter database postgres reset default_transaction_isolation")
    const found = conflicts() - before
    const writes = answers.length / 2 + unconditional.length
    const attempts = (writes + found) / writes
    await report(context, {
      "increments counted": final,
      "writes for them": answers.length / 2,
      "serialization failures": found,
      "attempts per write": attempts,
      rejected: [...answers, ...unconditional].filter(({ status }) => status >= 500).length
    })
    assertNoneSeen(answers, "200", "412")
    assertNoneSeen(unconditional, "200")
    assert.strictEqual(final, clients * increments)
    assert.isAbove(found, 0)
    assert.isAtMost(attempts, 5)
  })
})
