import postgres from "postgres"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import * as Patroni from "../support/proofs/Patroni.ts"
import * as Receiver from "../support/Receiver.ts"
import * as Service from "../support/Service.ts"
import { until } from "../support/Until.ts"

const writers = 8
const planned = 200
const maxSeconds = 30

let cluster: Patroni.Cluster
let service: Service.Service

beforeAll(async () => {
  cluster = await Patroni.start()
  service = await Service.start({
    DATABASE_URL: cluster.url,
    DATABASE_REPLICA_URLS: cluster.members.map(({ url }) => url).join(","),
    WEBHOOK_ALLOW_HTTP: "true",
    WEBHOOK_ALLOW_PRIVATE: "true"
  })
}, 180_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await cluster?.[Symbol.asyncDispose]()
})

/** A key of its own, so that what it reads does not depend on what others wrote. */
const clientWith = async (...permissions: ReadonlyArray<string>) => {
  const { body } = await service.call("POST", "/v1/api-keys", { name: "Client", permissions })
  return Service.callTo(service.url, body.data.key)
}

/** Counts answers by status, and 503 that do not say when to try again. */
const tally = () => {
  const statuses: Record<string, number> = {}
  const count = (status: string) => (statuses[status] = (statuses[status] ?? 0) + 1)
  return {
    statuses,
    /** Sends a request until it has another answer than 503. */
    untilAnswered: async (send: () => Promise<Service.Answer>) => {
      for (;;) {
        const answer = await send().catch(() => undefined)
        if (answer === undefined) {
          count("no answer")
          await sleep(1000)
          continue
        }
        const after = answer.headers.get("retry-after")
        count(answer.status === 503 && after === null ? "503 without Retry-After" : String(answer.status))
        if (answer.status !== 503) return answer
        await sleep(Number(after ?? 1) * 1000)
      }
    }
  }
}

/** Clients that write, read and follow while something happens to the leader. */
const workOf = async (name: string) => {
  const state = { isWriting: true, isReading: true }
  const [writing, reading, following] = [tally(), tally(), tally()]
  const writer = await clientWith("create:locations", "read:locations")
  const reader = await clientWith("read:locations")
  const follower = await clientWith("read:locations", "read:events")
  const known = await service.create("/v1/locations", { name: "Known", identifier: `known-${name}` })
  /** The times at which locations were acknowledged, by identifier. */
  const acknowledged = new Map<string, number>()
  const write = async (number: number) => {
    for (let count = 0; state.isWriting; count++) {
      const identifier = `${name}-${number}-${count}`
      const key = { "idempotency-key": randomUUID() }
      const { status, text } = await writing.untilAnswered(() =>
        writer("POST", "/v1/locations", { name: "Branch", identifier }, key)
      )
      assert.strictEqual(status, 201, text)
      acknowledged.set(identifier, performance.now())
      await sleep(10)
    }
  }
  let longest = 0
  const read = async () => {
    while (state.isReading) {
      const { millis } = await reading.untilAnswered(() => reader("GET", `/v1/locations/${known}`))
      longest = Math.max(longest, millis)
      await sleep(5)
    }
  }
  const events: Array<{ readonly id: string; readonly type: string; readonly record: { readonly uuid: string } }> = []
  const since = new Date().toISOString()
  let cursor = ""
  const follow = async () => {
    while (state.isReading) {
      const { body, status, text } = await following.untilAnswered(() =>
        follower("GET", `/v1/events?types=location.*&since=${since}&limit=500&wait=1&after=${cursor}`)
      )
      assert.strictEqual(status, 200, text)
      events.push(...body.data)
      cursor = body.cursor
    }
  }
  const writes = Promise.all(Array.from({ length: writers }, (_, number) => write(number)))
  const reads = Promise.all([...Array.from({ length: 4 }, read), follow()])
  return {
    acknowledged,
    events,
    statuses: { writing: writing.statuses, reading: reading.statuses, following: following.statuses },
    longestRead: () => Math.round(longest),
    stopWriting: async () => {
      state.isWriting = false
      await writes
    },
    stop: async () => {
      state.isReading = false
      await reads
    }
  }
}

/** Locations of a name on the primary, each with the number of rows that have its identifier. */
const rowsOf = async (name: string) => {
  const sql = postgres(cluster.url, { max: 1, onnotice: () => undefined })
  const rows = await sql<Array<{ identifier: string; count: number; uuid: string }>>`
    select identifier, count(*)::int as count, min(uuid::text) as uuid
      from locations where identifier like ${`${name}-%`} group by identifier`
  await sql.end()
  return rows
}

const faults: ReadonlyArray<{
  readonly name: string
  readonly title: string
  /** Does it to the leader; returns what makes it a standby again. */
  readonly begin: (leader: Patroni.Member) => Promise<() => void>
}> = [
  {
    name: "killed",
    title: "a leader that is killed",
    begin: async (leader) => {
      await leader.kill()
      return leader.start
    }
  },
  { name: "frozen", title: "a leader that freezes and returns", begin: async (leader) => leader.freeze() },
  {
    name: "cutoff",
    title: "a leader that loses its connection to etcd and goes on answering",
    begin: async (leader) => leader.cutOff()
  }
]

describe("failover with Patroni", () => {
  for (const { begin, name, title } of faults) {
    it(`${title} loses no acknowledged write, no event and no read, and writes resume within ${maxSeconds} s`, async (ctx) => {
      const leader = await cluster.untilWhole()
      await using receiver = await Receiver.start()
      const webhook = await service.create("/v1/webhooks", { url: receiver.url, types: ["location.created"] })
      const work = await workOf(name)
      const rows = Array.from({ length: planned }, (_, row) => ({ name: "Planned", identifier: `${name}-plan-${row}` }))
      const plan = await service.call(
        "POST",
        "/v1/plans?resource=locations",
        rows.map((row) => JSON.stringify(row)).join("\n"),
        { "content-type": "application/x-ndjson" }
      )
      const publishAt = new Date(Date.now() + 10_000).toISOString()
      const post = await service.create("/v1/posts", {
        status: "scheduled",
        publishAt,
        type: "news",
        translations: [{ locale: "en-GB", title: `While the leader is ${name}` }]
      })
      await sleep(3000)
      const began = performance.now()
      const repair = await begin(leader)
      const next = await until("another member is the leader", async () => {
        const found = await cluster.leader()
        return found !== undefined && found !== leader && found
      })
      await until(
        "every writer writes again",
        () => [...work.acknowledged.values()].filter((at) => at > began + 10_000).length > 10 * writers
      )
      const times = [...work.acknowledged.values()].toSorted((a, b) => a - b)
      const pause = Math.max(...times.map((at, index) => at - (times[index - 1] ?? at))) / 1000
      repair()
      await cluster.untilWhole()
      const after = tally()
      const applied = await after.untilAnswered(() =>
        service.call("POST", `/v1/plans/${plan.body.data.uuid}/apply`, {})
      )
      const again = await service.call("POST", `/v1/plans/${plan.body.data.uuid}/apply`, {})
      const published = await until("the post is published", async () => {
        const { body } = await after.untilAnswered(() => service.call("GET", `/v1/posts/${post}`))
        return body.data.status === "published" && body.data
      })
      await work.stopWriting()
      const stored = await rowsOf(name)
      await until("all events are followed and delivered", () =>
        stored.every(
          ({ uuid }) =>
            work.events.some(({ record }) => record.uuid === uuid) &&
            receiver.received.some(({ json }) => json.data.record.uuid === uuid)
        )
      ).catch(() => undefined)
      await work.stop()
      await service.call("DELETE", `/v1/webhooks/${webhook}`)
      const { body: history } = await service.call("GET", `/v1/posts/${post}/history`)

      const identifiers = new Set(stored.map(({ identifier }) => identifier))
      const lost = [...work.acknowledged.keys()].filter((identifier) => !identifiers.has(identifier))
      const twice = stored.filter(({ count }) => count > 1)
      const followed = work.events.map(({ id }) => id)
      const created = new Set(
        work.events.filter(({ type }) => type === "location.created").map(({ record }) => record.uuid)
      )
      const delivered = new Map<string, Set<string>>()
      for (const { json } of receiver.received) {
        const uuid: string = json.data.record.uuid
        delivered.set(uuid, (delivered.get(uuid) ?? new Set()).add(json.id))
      }
      const gaps = (seen: { has: (uuid: string) => boolean }) => stored.filter(({ uuid }) => !seen.has(uuid)).length
      await report(ctx, {
        acknowledged: work.acknowledged.size,
        lost: lost.length,
        double: twice.length,
        "s without a write": Number(pause.toFixed(1)),
        reads: work.statuses.reading["200"] ?? 0,
        "503 of reads": work.statuses.reading["503"] ?? 0,
        "longest read ms": work.longestRead(),
        "503 of writes": work.statuses.writing["503"] ?? 0,
        events: followed.length,
        "missed by the follower": gaps(created),
        "repeated to the follower": followed.length - new Set(followed).size,
        "missed by the webhook": gaps(delivered)
      })
      assert.notStrictEqual(next, leader)
      assert.deepStrictEqual([lost, twice], [[], []])
      assert.includeMembers(["201", "503"], Object.keys(work.statuses.writing))
      assert.includeMembers(["200", "503"], Object.keys(work.statuses.following))
      assert.deepStrictEqual(Object.keys(work.statuses.reading), ["200"])
      assert.isBelow(pause, maxSeconds)
      assert.strictEqual(followed.length, new Set(followed).size)
      assert.deepStrictEqual([gaps(created), gaps(delivered)], [0, 0])
      // A delivery may be repeated, an event may not.
      assert.deepStrictEqual(
        [...delivered.values()].filter((ids) => ids.size > 1),
        []
      )
      assert.deepStrictEqual([applied.status, again.status], [200, 200])
      assert.strictEqual(stored.filter(({ identifier }) => identifier.startsWith(`${name}-plan-`)).length, planned)
      assert.isAtLeast(Date.parse(published.publishedAt), Date.parse(publishAt))
      assert.lengthOf(
        history.data.filter(({ type }: { readonly type: string }) => type === "post.updated"),
        1
      )
    }, 300_000)
  }
})
