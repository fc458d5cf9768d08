import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Location, PartialLocation } from "../../src/domain/locations/Location.ts"
import { Locales, make } from "../../src/domain/schema/Locale.ts"
import { Memberships } from "../../src/repositories/people/Memberships.ts"
import { Locations } from "../../src/repositories/locations/Locations.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { publicUrl, settings } from "../support/TestServer.ts"
import { filled } from "./Explained.ts"

const fill = `
  insert into locations (uuid, name, identifier, address)
  select gen_random_uuid(), 'Branch', 'B-' || i, '{"addressLine1": "Oudegracht 158", "city": "Utrecht", "zipcode": "3511 AZ"}'
  from generate_series(1, 20) i`

const services = Locations.layer
  .pipe(Layer.provide(Memberships.layer))
  .pipe(
    Layer.provide(Layer.succeed(Locales, make(undefined))),
    Layer.provideMerge(filled([fill])),
    Layer.provide([publicUrl, settings()])
  )

const patches = [
  ["contact", { contact: { phone: "+31 30 123 4567" } }],
  ["address", { address: { addressLine1: "Oudegracht 160" } }],
  ["other", { other: { extraDna1: "Corner" } }]
] as const

layer(services, { excludeTestServices: true })("updates of locations", (it) => {
  it.effect.each(patches)("a patch of %s writes no index of locations", ([, sent]) =>
    Effect.gen(function* () {
      const locations = yield* Locations
      const { pooled } = yield* Sql
      const patch = Schema.decodeUnknownSync(PartialLocation)(sent)
      const rows = yield* pooled<{ readonly uuid: string }>`select uuid from locations`
      const uuids = Schema.decodeUnknownSync(Schema.Array(Location.fields.uuid))(rows.map(({ uuid }) => uuid))
      // A row that moves to another page is written to the indexes whatever has changed.
      const counts = Effect.map(
        pooled<{ readonly rows: number; readonly indexed: number }>`
          select n_tup_upd::int as rows, (n_tup_upd - n_tup_hot_upd - n_tup_newpage_upd)::int as indexed
          from pg_stat_xact_user_tables where relname = 'locations'`,
        ([row]) => row!
      )
      const [before, after] = yield* pooled.withTransaction(
        Effect.all([
          counts,
          Effect.andThen(
            Effect.forEach(uuids, (uuid) => locations.update(uuid, patch, undefined)),
            counts
          )
        ])
      )
      assert.deepStrictEqual([after.rows - before.rows, after.indexed - before.indexed], [20, 0])
    })
  )
})
