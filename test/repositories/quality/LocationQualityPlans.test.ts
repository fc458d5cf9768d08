import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { sortable } from "../../../src/domain/quality/LocationQuality.ts"
import { LocationQuality } from "../../../src/repositories/quality/LocationQuality.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"
import { explained, filled, nodes, rowsOf } from "../../sql/Explained.ts"

const rows = 20_000
const limit = 25

const fill = [
  `insert into locations (uuid, name, identifier, address, locale, created_at, edited_at)
    select gen_random_uuid(), 'Branch ' || md5(i::text), 'ID-' || md5('i' || i),
      jsonb_build_object('city', 'City ' || md5('c' || i % 900), 'countryCode', (array['NL', 'DE', 'BE'])[1 + i % 3]),
      (array['nl-NL', 'de-DE', null])[1 + i % 3], timestamptz '2024-01-01' + i * interval '1 minute',
      timestamptz '2024-06-01' + (i * 7919 % ${rows}) * interval '1 minute'
    from generate_series(1, ${rows}) i`,
  "insert into location_quality (uuid, score, issues) select uuid, hashtext(uuid::text) & 63, '[]' from locations",
  "vacuum analyze locations, locations_edits, location_quality"
]

const services = LocationQuality.layer.pipe(Layer.provideMerge(filled(fill)), Layer.provide([publicUrl, settings()]))

const orders = sortable.flatMap((sortBy) => (["asc", "desc"] as const).map((sortOrder) => ({ sortBy, sortOrder })))

layer(services, { excludeTestServices: true })("query plans with the quality of many locations", (it) => {
  it.effect.each(orders)(
    "a page behind a cursor by $sortBy $sortOrder reads no more locations than it has",
    ({ sortBy, sortOrder }) =>
      Effect.gen(function* () {
        const quality = yield* LocationQuality
        const order = { sortBy, sortOrder }
        const before = yield* quality.list({ ...order, limit: 500, after: "" })
        const page = quality.list({ ...order, limit, after: before.pagination.next! })
        const plan = yield* explained(page, { run: true, having: "location_quality q" })
        const reads = nodes(plan).filter(({ "Relation Name": name = "" }) => name.startsWith("location"))
        assert.includeMembers(
          reads.map((node) => node["Relation Name"]),
          ["locations", "location_quality"]
        )
        assert.deepStrictEqual(
          reads.filter((node) => node["Node Type"] === "Seq Scan"),
          []
        )
        for (const node of reads) assert.isAtMost(rowsOf(node), limit + 1)
      })
  )
})
