import postgres from "postgres"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { createClient } from "../../src/client/promise/PromiseClient.ts"
import { memoryOf } from "../support/Services.ts"
import { open, type Stream } from "../support/changes/Streams.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"
import { until } from "../support/Until.ts"

const seconds = Number(process.env["FOLLOW_SECONDS"] ?? 30)
const writers = 8
const transactions = 6
const types = "location.*"
const smallPages = "wait 1, limit 7"
const streams = 500
const maxMegabytes = 100

interface Seen {
  readonly id: string
  readonly cursor: string
  readonly record: { readonly uuid: string }
}

/** What a follower has read, and when. */
interface Follower {
  readonly name: string
  readonly ids: Array<string>
  readonly at: Map<string, number>
}

const follower = (name: string): Follower => ({ name, ids: [], at: new Map() })
const note = ({ at, ids }: Follower, { id, record }: Seen) => {
  ids.push(id)
  if (!at.has(record.uuid)) at.set(record.uuid, performance.now())
}

describe("followers of the log", () => {
  it("miss no event and receive none twice, while transactions stay open and roll back", async (context) => {
    await using running = await Running.start({ DATABASE_POOL_SIZE: "12" })
    const { call, folder, key, url } = running
    const sql = postgres({ ...(await Running.socketOf(folder)), max: transactions })
    const authorization = { authorization: key }
    const state = { isWriting: true, isReading: true }
    /** The locations that were committed, and when the client knew. */
    const committed = new Map<string, number>()
    let rolledBack = 0

    const write = async (writer: number) => {
      for (let count = 0; state.isWriting; count++) {
        const name = { name: "Branch", identifier: `${writer}-${count}` }
        const { body, status } = await call("POST", "/v1/locations", name)
        assert.strictEqual(status, 201)
        committed.set(body.data.uuid, performance.now())
        if (count % 3 === 0) await call("PATCH", `/v1/locations/${body.data.uuid}`, { name: "Other" })
        if (count % 7 === 0) await call("DELETE", `/v1/locations/${body.data.uuid}`)
      }
    }
    /** Transactions that stay open for seconds, every other of which rolls back. */
    const transact = async (number: number) => {
      for (let count = 0; state.isWriting; count++) {
        const rows: Array<string> = []
        const isKept = count % 2 === 0
        await sql
          .begin(async (transaction) => {
            for (let row = 0; row < 3; row++) {
              const [inserted] = await transaction`
                insert into locations (uuid, name, identifier) values (uuidv7(), 'Slow', ${`t${number}-${count}-${row}`})
                returning uuid`
              rows.push(String(inserted!["uuid"]))
              await sleep(300 + ((number * 7 + count * 3 + row) % 10) * 100)
            }
            if (!isKept) throw new Error("rolled back")
          })
          .catch(() => (rolledBack += rows.length))
        if (isKept) for (const uuid of rows) committed.set(uuid, performance.now())
      }
    }

    const poll = async (to: Follower, limit: number, wait: number) => {
      let after = ""
      while (state.isReading) {
        const path = `/v1/events?types=${types}&limit=${limit}&wait=${wait}&after=${after}`
        const { body, status } = await call("GET", path)
        assert.strictEqual(status, 200)
        for (const event of body.data) note(to, event)
        after = body.cursor
        if (wait === 0 && body.data.length === 0) await sleep(20)
      }
    }
    /** A stream; with `life`, one that connects again after so many milliseconds. */
    const stream = async (to: Follower, begin: string, life?: number) => {
      let last = begin
      while (state.isReading) {
        using opened = await open(`${url}/v1/events/stream?types=${types}`, { ...authorization, "last-event-id": last })
        assert.strictEqual(opened.status, 200)
        const ends = performance.now() + (life ?? Infinity)
        let read = 0
        while (state.isReading && performance.now() < ends) {
          await sleep(5)
          for (; read < opened.events.length; read++) {
            const event = opened.events[read]!
            note(to, event)
            last = event.sentId
          }
        }
      }
    }
    const iterate = async (to: Follower, signal: AbortSignal) => {
      const events = createClient({ url, key }).events.follow({ types: [types] }, { signal })
      for await (const event of events) note(to, event)
    }

    const { body: first } = await call("POST", "/v1/locations", { name: "First", identifier: "first" })
    committed.set(first.data.uuid, performance.now())
    const [begin] = await until("the log has the first location", async () => {
      const { body } = await call("GET", "/v1/events?limit=1")
      return body.data.length > 0 && ([body.cursor] as const)
    })
    const abort = new AbortController()
    const followers = ["wait 25", smallPages, "no wait", "stream", "stream of 300 ms", "stream of 1 s", "client"].map(
      follower
    )
    const reading = [
      poll(followers[0]!, 500, 25),
      poll(followers[1]!, 7, 1),
      poll(followers[2]!, 100, 0),
      stream(followers[3]!, begin),
      stream(followers[4]!, begin, 300),
      stream(followers[5]!, begin, 1000),
      iterate(followers[6]!, abort.signal).catch(() => undefined)
    ]
    const writing = [
      ...Array.from({ length: writers }, (_, number) => write(number)),
      ...Array.from({ length: transactions }, (_, number) => transact(number))
    ]
    await sleep(seconds * 1000)
    state.isWriting = false
    await Promise.all(writing)
    await until("every change has its position", async () => {
      const [row] = await running.sql`select count(*)::int as count from pending_changes`
      return row!["count"] === 0
    })
    const log =
      await running.sql`select id, action, record_uuid as uuid from events where type = 'location' order by position`
    const expected = log.map(({ id }) => String(id))
    await Promise.allSettled(
      followers.map(({ ids, name }) => until(`${name} is at the end`, () => ids.at(-1) === expected.at(-1), 10))
    )
    state.isReading = false
    abort.abort()
    await call("POST", "/v1/locations", { name: "Last", identifier: "last" })
    await Promise.all(reading)
    await sql.end()

    const differences = followers.map(({ ids }) => {
      const read = ids.slice(0, expected.length)
      return {
        missed: expected.filter((id) => !ids.includes(id)).length,
        twice: ids.length - new Set(ids).size,
        disordered: read.filter((id, index) => id !== expected[index]).length
      }
    })
    const created = log.filter(({ action }) => action === "created").map(({ uuid }) => String(uuid))
    // Pages of seven events are slower than the writers.
    const delays = followers
      .filter(({ name }) => name !== smallPages)
      .flatMap(({ at }) => [...committed].flatMap(([uuid, time]) => (at.has(uuid) ? [at.get(uuid)! - time] : [])))
      .toSorted((a, b) => a - b)
    const sum = (values: ReadonlyArray<number>) => values.reduce((all, one) => all + one, 0)
    await report(context, {
      events: expected.length,
      followers: followers.length,
      missed: sum(differences.map(({ missed }) => missed)),
      twice: sum(differences.map(({ twice }) => twice)),
      "out of order": sum(differences.map(({ disordered }) => disordered)),
      "rolled back": rolledBack,
      "p50 ms from answer to follower": delays[Math.floor(delays.length / 2)] ?? 0,
      "slowest ms": delays.at(-1) ?? 0
    })
    assert.deepStrictEqual(
      differences.filter(({ disordered, missed, twice }) => missed + twice + disordered > 0),
      []
    )
    assert.sameMembers(created, [...committed.keys()])
    assert.isAbove(rolledBack, 20)
    assert.isAtMost(delays.at(-1)!, 1000)
  }, 300_000)

  it(`${streams} streams on one process take less than ${maxMegabytes} MB`, async (context) => {
    await using running = await Running.start()
    const { call, key, pid, url } = running
    const writeSome = async (prefix: string) => {
      for (let count = 0; count < 200; count++) {
        const { status } = await call("POST", "/v1/locations", { name: "Branch", identifier: `${prefix}${count}` })
        assert.strictEqual(status, 201)
      }
    }
    await writeSome("warm")
    await writeSome("up")
    const before = memoryOf(pid)
    const opened: Array<Stream> = []
    for (let count = 0; count < streams; count++) {
      opened.push(await open(`${url}/v1/events/stream`, { authorization: key }))
    }
    const idle = memoryOf(pid)
    let most = idle
    const timer = setInterval(() => (most = Math.max(most, memoryOf(pid))), 50)
    await writeSome("streamed")
    await until("all streams have all events", () => opened.every(({ events }) => events.length >= 200))
    clearInterval(timer)
    for (const stream of opened) stream[Symbol.dispose]()
    await report(context, {
      "MB before": before,
      "MB more, idle": idle - before,
      "MB more, at most": most - before,
      "events received": opened.reduce((all, { events }) => all + events.length, 0)
    })
    assert.isBelow(most - before, maxMegabytes)
  }, 120_000)
})
