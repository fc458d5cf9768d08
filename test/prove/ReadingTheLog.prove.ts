import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Service from "../support/Service.ts"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"

const events = Number(process.env["LOG_EVENTS"] ?? 10_000_000)
const requests = 200
const maxMillis = 5

let database: Database.Database
let service: Service.Service

/** Locations with a hundred events each; the first events of the log are among them. */
const fill = async () => {
  await database.query("drop index events_record")
  await database.query("truncate events, event_links")
  await database.query(`
    insert into events (position, id, type, action, record_uuid, occurred_at, sealed_at, actor, label, before, after, bytes, salt, digest, hash)
      select i, ('0192e4a0-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'location', 'updated',
        ('0192e4a0-1111-7000-8000-' || lpad(to_hex(i * 7919 % (${events} / 100)), 12, '0'))::uuid,
        '2026-01-01'::timestamptz + i * interval '1 s', '2026-01-01'::timestamptz + i * interval '1 s',
        '{"type": "system"}', 'Bakery', '{"contact": {"phone": "+31 30 1234567"}}', '{"contact": {"phone": "+31 30 7654321"}}',
        82, '', sha256(int8send(i)), sha256(int8send(i))
      from generate_series(1, ${events}::bigint) i`)
  await database.query("create index events_record on events (record_uuid, position)")
  await database.query(`update event_log set position = ${events}, sealed_at = (select max(sealed_at) from events)`)
  await database.query("vacuum analyze events")
}

beforeAll(async () => {
  // The rows are made once and only read, so that durability would only cost time.
  database = await Database.make({
    fsync: "off",
    full_page_writes: "off",
    synchronous_commit: "off",
    wal_level: "minimal",
    max_wal_senders: "0",
    max_wal_size: "4GB",
    maintenance_work_mem: "512MB"
  })
  await (await Service.start({ DATABASE_URL: database.url }))[Symbol.asyncDispose]()
  await fill()
  service = await Service.start({ DATABASE_URL: database.url })
}, 1_200_000)

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await database?.remove()
}, 120_000)

/** The median duration of a request, in milliseconds; of three runs the fastest, because other processes can delay one. */
const median = async (paths: (index: number) => string) => {
  const medians: Array<number> = []
  for (let run = 0; run < 3; run++) {
    const millis: Array<number> = []
    for (let index = 0; index < requests; index++) {
      const answer = await service.call("GET", paths(index))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.isAbove(answer.body.data.length, 0)
      millis.push(answer.millis)
    }
    medians.push(millis.toSorted((a, b) => a - b)[requests / 2]!)
  }
  return Math.min(...medians)
}

const recordOf = (index: number) => `0192e4a0-1111-7000-8000-${(index % (events / 100)).toString(16).padStart(12, "0")}`

describe(`a log of ${events.toLocaleString("en")} events`, () => {
  it(`the first page of the feed and of a history takes at most ${maxMillis} ms at the median`, async (ctx) => {
    const paths = {
      feed: () => "/v1/events",
      "feed, newest first": () => "/v1/events?order=desc",
      "feed of a record": (index: number) => `/v1/events?record=${recordOf(index)}`,
      history: (index: number) => `/v1/locations/${recordOf(index)}/history`
    }
    const figures: Record<string, number> = {}
    for (const [name, path] of Object.entries(paths)) figures[`${name} p50 ms`] = await median(path)
    const [size] = await database.query<{ readonly bytes: number }>(
      "select pg_total_relation_size('events')::float8 as bytes"
    )
    await report(ctx, { ...figures, "bytes per event": size!.bytes / events })
    for (const [name, millis] of Object.entries(figures)) assert.isAtMost(millis, maxMillis, name)
  }, 300_000)
})
