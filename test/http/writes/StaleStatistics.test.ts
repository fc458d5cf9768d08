import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layer as correcting } from "../../../src/jobs/Statistics.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { send } from "../../support/requests/Requests.ts"
import { eventually } from "../../support/Until.ts"
import * as TestServer from "../../support/TestServer.ts"

const rows = 10_000
const written = 500

const identifiers = Array.from({ length: written }, (_, place) => `STALE-${place * 20 + 1}`)

/** Adds locations `STALE-1`, `STALE-2` and so on. */
const filled = Effect.fnUntraced(function* (count: number) {
  const { pooled } = yield* Sql
  return yield* pooled<{ readonly uuid: string; readonly identifier: string }>`
    insert into locations (uuid, name, identifier, contact)
      select gen_random_uuid(), 'Branch ' || i, 'STALE-' || i, '{"email": "info@example.com"}' from generate_series(1, ${count}::int) i
      returning uuid, identifier`
})

const bulk = (operations: ReadonlyArray<object>) =>
  Effect.map(send("POST", "/v1/locations/bulk", { body: { operations } }), ({ body }) => body.counts)

layer(TestServer.layer(), { excludeTestServices: true })(
  "statistics of a table in which only dead rows were found",
  (it) => {
    /** Leaves 10,000 locations of which PostgreSQL expects none, and returns their uuids. */
    const unexpected = Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* pooled`alter table locations set (autovacuum_enabled = off)`
      yield* pooled`delete from locations`
      yield* filled(written)
      yield* pooled`delete from locations`
      yield* pooled`analyze locations`
      assert.deepStrictEqual(yield* expected, 0)
      const uuids = new Map((yield* filled(rows)).map(({ identifier, uuid }) => [identifier, uuid]))
      // Sessions report what they wrote once a second.
      yield* eventually("the rows are counted", counted, (found) => found > rows / 2)
      return uuids
    })

    const counted = Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [table] = yield* pooled<{ readonly rows: number }>`
      select n_live_tup::int as rows from pg_stat_user_tables where relid = 'locations'::regclass`
      return table!.rows
    })

    const expected = Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [table] = yield* pooled<{ readonly rows: number }>`
      select reltuples::int as rows from pg_class where oid = 'locations'::regclass`
      return table!.rows
    })

    it.effect(
      "a job analyzes the table, so that bulk requests change 500 of 10,000 new locations within the time of a statement",
      () =>
        Effect.gen(function* () {
          const uuids = yield* unexpected
          yield* eventually("the table is analyzed", expected, (found) => found > rows / 2).pipe(
            Effect.provide(correcting)
          )
          const data = { contact: { phone: "+31301234567" } }
          const updates = identifiers.map((identifier) => ({ op: "update", uuid: uuids.get(identifier), data }))
          assert.deepStrictEqual(yield* bulk(updates), { 200: written })
          const upserts = identifiers.map((key) => ({ op: "upsert", key, data: { name: "Upserted" } }))
          assert.deepStrictEqual(yield* bulk(upserts), { 200: written })
        })
    )

    it.effect("a plan analyzes the table before it compares 500 rows with 10,000 new locations", () =>
      Effect.gen(function* () {
        yield* unexpected
        const file = identifiers.map((identifier) => ({
          identifier,
          name: "Planned",
          contact: { phone: "+31301234567" }
        }))
        const { body: planned } = yield* send("POST", "/v1/plans?resource=locations", { body: file })
        assert.strictEqual(planned.data?.counts.update, written)
        const applied = yield* send("POST", `/v1/plans/${planned.data.uuid}/apply`, { body: {} })
        assert.strictEqual(applied.status, 200)
      })
    )
  }
)
