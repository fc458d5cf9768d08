import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Timestamp, Uuid } from "../../src/domain/schema/Fields.ts"
import { columnsOf, type Computed } from "../../src/sql/Columns.ts"
import { sql } from "../../src/sql/Fragment.ts"
import * as Listing from "../../src/sql/lists/Listing.ts"
import { Sql } from "../../src/sql/Sql.ts"
import type { View } from "../../src/sql/View.ts"
import * as Postgres from "../support/Postgres.ts"
import { settings } from "../support/TestServer.ts"
import { watched } from "../support/Turns.ts"

/** So many large locations have more bytes than an answer, and half of them have not. */
const rows = 30

const Branch = Schema.Struct({
  uuid: Uuid,
  name: Schema.String,
  other: Schema.Struct({ extraDna1: Schema.String }),
  createdAt: Timestamp
})

/** Reads a page of locations: how its statement was run, and whether there was an answer. */
const reader = Effect.fnUntraced(function* (record: Schema.Top = Branch, computed?: Computed) {
  const service = yield* Sql
  const used: Array<string> = []
  const { list } = yield* Listing.make<unknown>({ table: "locations", columns: columnsOf(record, computed) }).pipe(
    Effect.provideService(Sql, watched(service, used))
  )
  return Effect.fnUntraced(function* (request: Listing.ListRequest, view: View = {}) {
    used.length = 0
    const exit = yield* Effect.exit(list(request, view))
    return [...used, ...(Exit.isSuccess(exit) ? [] : ["failed"])]
  })
})

const fill = Effect.gen(function* () {
  const client = yield* SqlClient.SqlClient
  yield* client`insert into locations (uuid, name, identifier, other, created_at)
    select uuidv7(), 'Branch', 'ID-' || i, jsonb_build_object('extraDna1', repeat('a', case when i <= ${rows} then 700000 else 500 end)),
      timestamptz '2024-01-01' + i * interval '1 minute'
    from generate_series(1, 600) i`
}).pipe(Effect.provide(Postgres.untimed))

const large = { limit: rows, sortOrder: "asc" } as const

layer(Layer.effectDiscard(fill).pipe(Layer.provideMerge(Postgres.sql), Layer.provide(settings())), {
  excludeTestServices: true
})("the connections of pages", (it) => {
  it.effect("small pages are cheap, and pages of many rows are not", () =>
    Effect.gen(function* () {
      const read = yield* reader()
      assert.deepStrictEqual(yield* read({ limit: 25 }), ["cheap"])
      assert.deepStrictEqual(yield* read({ limit: 100 }), ["cheap"])
      assert.deepStrictEqual(yield* read({ limit: 500 }), [])
    })
  )

  it.effect("a page with columns of its own is not cheap, and one whose records take long is a long statement", () =>
    Effect.gen(function* () {
      const read = yield* reader()
      assert.deepStrictEqual(yield* read({ limit: 25 }, { columns: columnsOf(Branch) }), [])
      assert.deepStrictEqual(yield* read({ limit: 25 }, { isLong: true }), ["long"])
      assert.deepStrictEqual(yield* read({ limit: 25 }), ["cheap"])
    })
  )

  it.effect("a page that is rejected is large from then on, whatever other pages have", () =>
    Effect.gen(function* () {
      const read = yield* reader()
      assert.deepStrictEqual(yield* read({ limit: rows }), ["large"])
      assert.deepStrictEqual(yield* read({ limit: rows }), ["cheap"])
      assert.deepStrictEqual(yield* read(large), ["cheap", "failed"])
      for (let page = 0; page < 300; page++) yield* read({ limit: 1 })
      assert.deepStrictEqual(yield* read(large), ["large", "failed"])
      assert.deepStrictEqual(yield* read({ ...large, limit: rows / 2 }), ["large"])
    })
  )

  it.effect("a page with fields is large when those had megabytes", () =>
    Effect.gen(function* () {
      const read = yield* reader()
      const fields = ["other"]
      assert.deepStrictEqual(yield* read({ limit: 25 }), ["cheap"])
      assert.deepStrictEqual(yield* read({ ...large, limit: rows / 2, fields }), ["cheap"])
      assert.deepStrictEqual(yield* read({ ...large, limit: rows / 2, fields }), ["large"])
    })
  )

  it.effect("a page with fields says nothing about whole records", () =>
    Effect.gen(function* () {
      const read = yield* reader()
      assert.deepStrictEqual(yield* read({ limit: 25, fields: ["uuid"] }), ["cheap"])
      assert.deepStrictEqual(yield* read({ limit: 100 }), ["large"])
    })
  )

  it.effect("a large page has the records that another one has", () =>
    Effect.gen(function* () {
      for (const page of [1, 2, 5, 7]) {
        const { list } = yield* Listing.make<unknown>({ table: "locations", columns: columnsOf(Branch) })
        const request = { limit: 100, page, sortBy: "name" }
        const large = yield* list(request)
        yield* list({ limit: 25 })
        const small = yield* list(request)
        assert.lengthOf(JSON.parse(large.data), page === 7 ? 0 : 100)
        assert.deepStrictEqual(large, small)
      }
    })
  )

  it.effect("a large page reads no more records than an answer has", () =>
    Effect.gen(function* () {
      // The last record cannot be read.
      const name = sql`'Branch' || 1 / (${sql.literal(String(rows))} - substr(t.identifier, 4)::int)`
      const { list } = yield* Listing.make<unknown>({ table: "locations", columns: columnsOf(Branch, { name }) })
      const exit = yield* Effect.exit(list(large))
      assert.include(JSON.stringify(exit), "tooMuch")
    })
  )
})

const unprepared = Postgres.sql.pipe(Layer.provideMerge(settings({ DATABASE_PREPARE: "false" })))

layer(unprepared, { excludeTestServices: true })("pages that take too long", (it) => {
  it.effect("leave the connection of cheap pages from then on", () =>
    Effect.gen(function* () {
      yield* Postgres.execute(
        `insert into locations (uuid, name, identifier, other) values (uuidv7(), 'Branch', 'ID', '{"extraDna1":"a"}')`
      )
      const reads = Effect.gen(function* () {
        const read = yield* reader(Branch, { name: sql`(select 'Branch' from pg_sleep(1))` })
        assert.deepStrictEqual(yield* read({ limit: 25 }), ["cheap", "failed"])
        assert.deepStrictEqual(yield* read({ limit: 25 }), ["failed"])
      })
      yield* Effect.provide(reads, Postgres.hurried(300))
    })
  )
})
