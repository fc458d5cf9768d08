import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
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
      // On one connection, which reports what it wrote when the transaction ends.
      const filling = Effect.gen(function* () {
        yield* pooled`set local statement_timeout = 0`
        yield* pooled`alter table locations set (autovacuum_enabled = off)`
        yield* pooled`delete from locations`
        yield* filled(written)
        yield* pooled`delete from locations`
        yield* pooled`analyze locations`
        yield* pooled`select pg_stat_force_next_flush()`
        return yield* filled(rows)
      })
      const uuids = new Map((yield* pooled.withTransaction(filling)).map(({ identifier, uuid }) => [identifier, uuid]))
      yield* eventually("the rows are counted", statistics, ({ counted }) => counted > rows / 2)
      assert.strictEqual((yield* statistics).expected, 0)
      return uuids
    })

    /** How many rows PostgreSQL counts, and how many it expects. */
    const statisticsOf = Effect.fnUntraced(function* (table: string) {
      const { pooled } = yield* Sql
      const [row] = yield* pooled<{ readonly counted: number; readonly expected: number }>`
        select s.n_live_tup::int as counted, c.reltuples::int as expected
        from pg_class c join pg_stat_user_tables s on s.relid = c.oid where c.oid = ${table}::regclass`
      return row!
    })
    const statistics = statisticsOf("locations")

    it.effect(
      "a job analyzes the table, so that bulk requests change 500 of 10,000 new locations within the time of a statement",
      () =>
        Effect.gen(function* () {
          const uuids = yield* unexpected
          yield* eventually("the table is analyzed", statistics, ({ expected }) => expected > rows / 2).pipe(
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

    it.effect(
      "a plan is created while a table cannot be analyzed, also within the transaction of an idempotent write",
      () =>
        Effect.gen(function* () {
          const { pooled } = yield* Sql
          const filling = Effect.gen(function* () {
            yield* pooled`create function fail_later(int) returns int immutable language plpgsql as $$
              begin
                if exists (select from pg_class where relname = 'unanalyzable_now') then raise 'Not analyzed'; end if;
                return 1;
              end $$`
            yield* pooled`create table unanalyzable (value int) with (autovacuum_enabled = off)`
            yield* pooled`create index on unanalyzable (fail_later(value))`
            yield* pooled`insert into unanalyzable select generate_series(1, ${written}::int)`
            yield* pooled`delete from unanalyzable`
            yield* pooled`analyze unanalyzable`
            yield* pooled`insert into unanalyzable select generate_series(1, ${written}::int)`
            yield* pooled`create table unanalyzable_now ()`
            yield* pooled`select pg_stat_force_next_flush()`
          })
          yield* pooled.withTransaction(filling)
          yield* eventually(
            "the rows are counted",
            statisticsOf("unanalyzable"),
            ({ counted }) => counted > written / 2
          )
          assert.strictEqual((yield* statisticsOf("unanalyzable")).expected, 0)
          assert.isTrue(Exit.isFailure(yield* Effect.exit(pooled`analyze unanalyzable`)))
          for (const headers of [{}, { "idempotency-key": "unanalyzable" }]) {
            const { status } = yield* send("POST", "/v1/plans?resource=locations", {
              body: [{ identifier: "NEW", name: "New" }],
              headers
            })
            assert.strictEqual(status, 201)
          }
        })
    )
  }
)
