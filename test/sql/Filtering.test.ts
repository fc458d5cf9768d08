import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../src/sql/Sql.ts"
import { TestServer } from "../support/TestServer.ts"
import * as Server from "../support/TestServer.ts"
import { type Answered, matches, write } from "../support/filters/FilterOracle.ts"
import * as FilterRecords from "../support/filters/FilterRecords.ts"
import * as FilterSamples from "../support/filters/FilterSamples.ts"
import { send } from "../support/requests/Requests.ts"
import { runs } from "../support/Runs.ts"

const seed = Number(process.env["FILTER_SEED"] ?? 20_260_131)
const locationCount = 200
const filterCount = runs(1000)

const samples = FilterSamples.make(seed)
const sampleRecords = FilterRecords.make(samples)

layer(Server.layer())("filters on locations", (it) => {
  const get = Effect.fnUntraced(function* (query: string) {
    const { fetch, fullKey } = yield* TestServer
    const response = yield* Effect.promise(() =>
      fetch(`/v1/locations?limit=500${query}`, { headers: { authorization: fullKey } })
    )
    const body = (yield* Effect.promise(() => response.json())) as {
      data: ReadonlyArray<Answered>
      pagination: { total: number }
      message?: string
    }
    return { status: response.status, ...body }
  })

  const insert = Effect.gen(function* () {
    const operations = Array.from({ length: locationCount }, (_, index) => ({
      op: "create",
      data: sampleRecords.location(index)
    }))
    const { body, text } = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
    assert.deepStrictEqual(body.counts, { 201: locationCount }, text)
  })

  const spread = Effect.gen(function* () {
    const { pooled } = yield* Sql
    const rows = yield* pooled<{ readonly uuid: string }>`select uuid from locations order by identifier`
    const moved = rows.map(({ uuid }) => ({ uuid, created: samples.instant(), edited: samples.instant() }))
    yield* pooled`
      update locations set created_at = m.created, edited_at = m.edited
      from jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) as m (uuid uuid, created timestamptz, edited timestamptz)
      where locations.uuid = m.uuid`
  })

  it.effect("a filter on the year 0 does not cause a server error", () =>
    Effect.gen(function* () {
      for (const value of ["0000-01-01", "0000-12-31T23:59:59.999Z"]) {
        for (const operator of ["equals", "gt", "gte", "lt", "lte"]) {
          const { status } = yield* get(`&filter=createdAt:${operator}:${value}`)
          assert.include([200, 400], status, `${operator} ${value}`)
        }
      }
    })
  )

  it.effect("random filters find the locations that the reference implementation finds", () =>
    Effect.gen(function* () {
      yield* insert
      yield* spread
      const { data: records } = yield* get("")
      assert.lengthOf(records, locationCount)
      const filters = samples.filters(records)
      const wrong: Array<unknown> = []
      let selective = 0
      for (let run = 0; run < filterCount; run++) {
        const conditions = filters.conditions()
        const filter = write(conditions, samples.random)
        const expected = records.filter((record) => matches(record, conditions)).map(({ uuid }) => uuid)
        const answer = yield* get(`&fields=uuid&filter=${encodeURIComponent(filter)}`)
        const found = answer.data?.map(({ uuid }) => uuid) ?? []
        if (expected.length > 0 && expected.length < locationCount) selective++
        const same =
          answer.pagination?.total === expected.length && found.toSorted().join() === expected.toSorted().join()
        if (!same)
          wrong.push({
            filter,
            status: answer.status,
            message: answer.message,
            expected: expected.length,
            found: found.length,
            total: answer.pagination?.total
          })
      }
      console.log(
        `seed ${seed}: ${filterCount} filters over ${locationCount} locations, ${selective} of them match some and not all`
      )
      assert.deepStrictEqual(wrong.slice(0, 10), [], `${wrong.length} of ${filterCount} filters`)
      assert.isAbove(selective, filterCount * 0.4)
    })
  )
})
