import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { lookupsOnly, QualityRefresh } from "../../../src/repositories/quality/QualityRefresh.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { refreshed } from "../../support/requests/QualityRequests.ts"
import { explained, nodes, rowsReadBy } from "../../sql/Explained.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"

const locations = 6000
const compared = 100

layer(TestServer.layer(), { excludeTestServices: true })("the quality of locations that share a place", (it) => {
  it.effect(
    "6,000 locations with one address, place and postal code are found to share them, each statement within its time limit",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        yield* Postgres.execute(`
          insert into locations (uuid, name, identifier, postal_codes, address, coordinates)
            select gen_random_uuid(), 'Shop ' || i, 'SHOP-' || i, '{3511 AB}',
              '{"addressLine1": "Oudegracht 158", "city": "Utrecht", "countryCode": "NL", "zipcode": "3511 AZ"}',
              '{"latitude": 52.0907374, "longitude": 5.1214201}'
            from generate_series(1, ${locations}) i`)
        yield* refreshed
        const found = yield* pooled`
          select rule, count(*)::int as broken from location_quality_keys, unnest(rules) rule
          where rule in ('duplicateAddress', 'duplicateCoordinates', 'territoryConflict') group by 1 order by 1`
        assert.deepStrictEqual(found, [
          { rule: "duplicateAddress", broken: locations },
          { rule: "duplicateCoordinates", broken: locations },
          { rule: "territoryConflict", broken: locations }
        ])
      })
  )

  /** Refreshes 100 locations, and returns the most rows that a part of their comparison reads. */
  const mostRead = Effect.gen(function* () {
    const { pooled } = yield* Sql
    const refreshedOnce = Effect.flatMap(QualityRefresh, (quality) => quality.refresh(() => []))
    const plan = yield* pooled.withTransaction(
      Effect.gen(function* () {
        // The service under test refreshes them too.
        yield* pooled`select pg_advisory_xact_lock(hashtext('waypost'), hashtext('location_quality'))`
        // Sealing stands still, so that no other location is looked at.
        yield* pooled`select from event_log for update`
        yield* pooled`update location_quality_progress set position = (select position from event_log)`
        yield* pooled`delete from stale_location_quality`
        yield* pooled`insert into stale_location_quality (location_uuid, is_recent)
          select uuid, true from locations limit ${compared}::int`
        // As in a refresh.
        yield* pooled`select ${lookupsOnly}`
        return yield* explained(refreshedOnce, { having: "sharesTerritory", run: true })
      })
    )
    return Math.max(...nodes(plan).map(rowsReadBy))
  }).pipe(Effect.provide(QualityRefresh.layer))

  it.effect("a location is compared with one of the 5,999 that share its place, and the others are not read", () =>
    // A postal code has fewer than ten beginnings.
    Effect.map(mostRead, (rows) => assert.isAtMost(rows, 10 * compared))
  )

  it.effect("the keys of a location are looked up while PostgreSQL has statistics of only the first 500", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* pooled`alter table location_quality_keys set (autovacuum_enabled = off)`
      yield* pooled`analyze locations`
      yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* pooled`create temporary table kept on commit drop as table location_quality_keys`
          yield* pooled`truncate location_quality_keys, location_quality_claims`
          const first = pooled`select * from kept order by location_uuid limit 500`
          yield* pooled`insert into location_quality_keys ${first}`
          yield* pooled`analyze location_quality_keys`
          yield* pooled`insert into location_quality_keys table kept on conflict do nothing`
        })
      )
      assert.isAtMost(yield* mostRead, 10 * compared)
      yield* pooled`alter table location_quality_keys reset (autovacuum_enabled)`
    })
  )

  it.effect("a location is compared with few others while PostgreSQL expects that there are none", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* Effect.provide(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`update locations set postal_codes = array[lpad((random() * 999999)::int::text, 6, '0')]`
        ),
        Postgres.untimed
      )
      yield* pooled`alter table location_quality_claims set (autovacuum_enabled = off)`
      yield* pooled`delete from location_quality_keys`
      yield* pooled`analyze location_quality_claims`
      assert.isAtMost(yield* mostRead, 10 * compared)
    })
  )

  it.effect("a postal code without a second letter or digit is compared with few others", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* Effect.provide(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`update locations set postal_codes = array[
            (array['--', '1-', '1' || lpad((random() * 999999)::int::text, 6, '0')])[1 + floor(random() * 3)]]`
        ),
        Postgres.untimed
      )
      yield* pooled`delete from location_quality_keys`
      yield* refreshed
      assert.isAtMost(yield* mostRead, 10 * compared)
    })
  )
})

const unprepared = Postgres.sql.pipe(Layer.provideMerge(TestServer.settings({ DATABASE_PREPARE: "false" })))
layer(unprepared, { excludeTestServices: true })("the quality of locations with many postal codes", (it) => {
  it.effect("quality is assessed in smaller parts when that of one batch exceeds the statement timeout", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const count = 400
      yield* pooled`
        insert into locations (uuid, name, identifier, postal_codes)
          select gen_random_uuid(), 'Shop ' || i, 'SHOP-' || i, array[lpad(i::text, 6, '0')] from generate_series(1, ${count}::int) i`
      yield* pooled.unsafe(
        "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.005); return new; end $$"
      )
      yield* pooled.unsafe(
        "create trigger slow before insert on location_quality_claims for each row execute function slow()"
      )
      yield* Effect.provide(refreshed, Postgres.hurried(1000))
      const [found] = yield* pooled`select count(*)::int as assessed from location_quality`
      assert.deepStrictEqual(found, { assessed: count })
    })
  )
})
