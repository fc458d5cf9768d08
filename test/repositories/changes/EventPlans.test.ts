import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { EventLog } from "../../../src/repositories/changes/EventLog.ts"
import type { PageRequest } from "../../../src/repositories/changes/EventPages.ts"
import { settings } from "../../support/TestServer.ts"
import { explained, filled, nodes } from "../../sql/Explained.ts"

const events = 100_000

const uuidOf = (kind: string, n: number | string) => `md5('${kind}' || ${n})::uuid`

/** One event a minute: of a thousand locations in turn, and each hundredth of a group that gains one of them. */
const fill = `
  insert into events (position, id, type, action, record_uuid, occurred_at, sealed_at, actor, label, before, after, links,
      bytes, salt, digest, hash)
    select i, gen_random_uuid(), case when i % 100 = 0 then 'group' else 'location' end, 'updated',
      case when i % 100 = 0 then ${uuidOf("group", "0")} else ${uuidOf("location", "i % 1000")} end,
      timestamptz '2020-01-01' + i * interval '1 minute', timestamptz '2020-01-01' + i * interval '1 minute',
      '{"type": "system"}', 'Branch ' || i, '{"name": "before"}', '{"name": "after"}',
      case when i % 100 = 0 then jsonb_build_array(jsonb_build_object('path', 'locations',
        'added', jsonb_build_array(${uuidOf("location", "i / 100 % 1000")}), 'removed', '[]'::jsonb)) end,
      64, '', '', '' from generate_series(1, ${events}) i`
const fillLinks = `
  insert into event_links (uuid, position)
    select ${uuidOf("location", "i / 100 % 1000")}, i from generate_series(100, ${events}, 100) i`
const end = `update event_log set position = ${events}`

const services = EventLog.layer.pipe(
  Layer.provideMerge(filled([fill, fillLinks, end, "vacuum analyze events, event_links"])),
  Layer.provide(settings())
)

/** The location of the number 7, as `uuidOf` makes it. */
const location = createHash("md5")
  .update("location7")
  .digest("hex")
  .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
const time = (position: number) => DateTime.makeUnsafe(Date.UTC(2020, 0, 1) + position * 60_000)
const middle = events / 2

interface Case {
  readonly name: string
  readonly request: Omit<PageRequest, "limit">
  readonly indexes: ReadonlyArray<string>
  /** Rows of the log that the page reads at most. */
  readonly rows: number
}

const byPosition = ["events_pkey"]
const byRecord = ["event_links_pkey", "events_pkey", "events_record"]
const types = ["group.updated"]

const cases: ReadonlyArray<Case> = [
  { name: "the first page", request: { order: "asc" }, indexes: byPosition, rows: 100 },
  { name: "the last page", request: { order: "desc" }, indexes: byPosition, rows: 100 },
  { name: "a page in the middle", request: { order: "asc", after: middle }, indexes: byPosition, rows: 100 },
  { name: "a page of one type", request: { order: "asc", after: middle, types }, indexes: byPosition, rows: 10_000 },
  { name: "a page since a time", request: { order: "asc", since: time(middle) }, indexes: byPosition, rows: 100 },
  { name: "a page until a time", request: { order: "desc", until: time(events - 5) }, indexes: byPosition, rows: 110 },
  { name: "the history of a record", request: { order: "desc", record: location }, indexes: byRecord, rows: 100 },
  { name: "a record in order", request: { order: "asc", record: location }, indexes: byRecord, rows: 100 },
  { name: "one type of a record", request: { order: "asc", record: location, types }, indexes: byRecord, rows: 200 },
  {
    name: "a record without relations",
    request: { order: "asc", record: location, types, paths: ["users"] },
    indexes: byRecord,
    rows: 200
  }
]

layer(services, { excludeTestServices: true })("pages of a long log", (it) => {
  it.effect.each(cases)("$name is read by an index, and few rows of the log", ({ indexes, request, rows }) =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const plan = nodes(yield* explained(log.page({ ...request, limit: 100 }), { run: true }))
      const scans = plan.filter((node) => ["events", "event_links"].includes(node["Relation Name"] ?? ""))
      assert.deepStrictEqual([...new Set(scans.flatMap((node) => node["Index Name"] ?? []))].toSorted(), indexes)
      for (const scan of scans) assert.isAtMost(scan["Actual Rows"] * scan["Actual Loops"], rows)
    })
  )
})
