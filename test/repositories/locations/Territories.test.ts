import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Territories } from "../../../src/repositories/locations/Territories.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"
import { watched } from "../../support/Turns.ts"

/** How the statements of a read were run. */
const used: Array<string> = []
const services = Territories.layer.pipe(
  Layer.provide(
    Layer.effect(
      Sql,
      Effect.map(Sql, (service) => watched(service, used))
    )
  ),
  Layer.provideMerge(Postgres.sql),
  Layer.provide(settings())
)

const usedBy = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    used.length = 0
    return Effect.map(run, () => used.toSorted())
  })

layer(services, { excludeTestServices: true })("the statements of territories", (it) => {
  it.effect("a code that no location lists is looked up by long statements, and a listed one is not", () =>
    Effect.gen(function* () {
      const territories = yield* Territories
      const { pooled } = yield* Sql
      yield* pooled`insert into locations (uuid, name, identifier, postal_codes, address)
        values (uuidv7(), 'Branch', 'listed', '{3511}', '{"countryCode":"NL"}')`
      assert.deepStrictEqual(yield* usedBy(territories.resolve({ postalCode: "3511AB" })), [])
      assert.deepStrictEqual(yield* usedBy(territories.resolve({ postalCode: "7711AB" })), ["long"])
      const near = { latitude: 52, longitude: 5 }
      assert.deepStrictEqual(yield* usedBy(territories.resolve({ postalCode: "7711AB", near })), ["long", "long"])
    })
  )

  it.effect("a page of conflicts takes its turn among large pages once its records had megabytes", () =>
    Effect.gen(function* () {
      const territories = yield* Territories
      const { pooled } = yield* Sql
      yield* pooled`insert into locations (uuid, name, identifier, postal_codes)
        select uuidv7(), repeat('a', 250), 'claims-' || i, array(select code::text from generate_series(5000, 5499) code)
        from generate_series(1, 15) i`
      assert.deepStrictEqual(yield* usedBy(territories.list({ kind: "conflicts", limit: 25 })), ["long"])
      assert.deepStrictEqual(yield* usedBy(territories.list({ kind: "conflicts", limit: 100 })), ["long"])
      assert.deepStrictEqual(yield* usedBy(territories.list({ kind: "conflicts", limit: 500 })), ["large", "long"])
    })
  )
})
