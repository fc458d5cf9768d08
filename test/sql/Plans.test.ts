import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { Locales, make } from "../../src/domain/schema/Locale.ts"
import { Location, sortable } from "../../src/domain/locations/Location.ts"
import { parse } from "../../src/domain/query/Filter.ts"
import { fieldsOf } from "../../src/domain/query/FilterFields.ts"
import { Memberships } from "../../src/repositories/people/Memberships.ts"
import { Locations } from "../../src/repositories/locations/Locations.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { publicUrl, settings } from "../support/TestServer.ts"
import { assertWalk, explained, filled, isScanOf, keptPlans, nodes, wholeTable } from "./Explained.ts"
import { fold } from "../support/filters/FilterOracle.ts"

const rows = 20_000

const conditions = (filter: string) => Result.getOrThrow(parse(fieldsOf(Location), filter))

/** Deterministic rows, some of which lack each optional member. */
const fill = `
  insert into locations (uuid, name, identifier, postal_codes, address, locale, created_at, edited_at)
  select gen_random_uuid(), 'Branch ' || md5(i::text) || case when i % 100 = 0 then (array[' Οδός', ' ΟΔΌΣ', ' 100%_', ' a\\bar',
      ' İstanbul', ' ÇAY', ' Été', ' 🥐🥐🥐', ' STRASSE', ' Straße'])[1 + i / 100 % 10] else '' end, 'ID-' || md5('i' || i), array[(1000 + i % 9000)::text],
    case when i % 5 = 0 then null else jsonb_strip_nulls(jsonb_build_object(
      'city', case when i % 7 > 0 then 'City ' || md5('c' || i % 900) end,
      'countryCode', (array['NL', 'DE', 'BE', 'FR'])[1 + i % 4])) end,
    (array['nl-NL', 'de-DE', null])[1 + i % 3],
    timestamptz '2024-01-01' + i * interval '1 minute', timestamptz '2024-06-01' + (i * 7919 % ${rows}) * interval '1 minute'
  from generate_series(1, ${rows}) i`

const services = Locations.layer
  .pipe(Layer.provide(Memberships.layer))
  .pipe(
    Layer.provide(Layer.succeed(Locales, make(undefined))),
    Layer.provideMerge(filled([fill, "vacuum analyze locations, locations_edits"])),
    Layer.provide([publicUrl, settings()])
  )

const limit = 25
const numberOf = { first: 1, middle: rows / limit / 2, last: rows / limit }
const lists = sortable.flatMap((sortBy) =>
  (["asc", "desc"] as const).flatMap((sortOrder) =>
    (["first", "middle", "last"] as const).map((page) => ({ sortBy, sortOrder, page }))
  )
)

const indexed: ReadonlyArray<readonly [filter: string, index: string]> = [
  ["name:contains:a1b", "locations_trigrams"],
  ["name:contains:BRANCH 0F", "locations_trigrams"],
  ["name:startsWith:branch 12", "locations_trigrams"],
  ["name:endsWith:0f3", "locations_trigrams"],
  ["identifier:contains:d-0f3", "locations_trigrams"],
  ["address.city:contains:c0f", "locations_trigrams"],
  ["postalCodes:equals:1042", "locations_postal_codes"],
  ["editedAt:gte:2024-06-14T21:00:00.000Z", "locations_edited_at"],
  ["name:equals:Branch x", "locations_name"],
  ["identifier:equals:ID-x", "locations_identifier"]
]

layer(services, { excludeTestServices: true })("query plans on a large table", (it) => {
  it.effect.each(sortable.flatMap((sortBy) => (["asc", "desc"] as const).map((sortOrder) => ({ sortBy, sortOrder }))))(
    "the first page by $sortBy $sortOrder is planned once, and not for each request",
    (request) =>
      Effect.gen(function* () {
        const { cheapPage } = yield* Sql
        const locations = yield* Locations
        const generic = Effect.map(
          cheapPage(
            (client) => client<{ readonly plans: number }>`
              select coalesce(sum(generic_plans), 0)::int as plans from pg_prepared_statements where statement like '%row_counts%'`
          ),
          ([row]) => row!.plans
        )
        const before = yield* generic
        for (let time = 0; time < 24; time++) yield* locations.list({ ...request, limit })
        assert.isAtLeast((yield* generic) - before, 5)
      })
  )

  it.effect.each(lists)("the $page page by $sortBy $sortOrder is read from an index", ({ page, sortBy, sortOrder }) =>
    Effect.gen(function* () {
      const locations = yield* Locations
      // The second read has the cached total and starts from the nearer end.
      yield* locations.list({ sortBy, sortOrder, limit })
      const plan = yield* explained(locations.list({ sortBy, sortOrder, limit, page: numberOf[page] }))
      assert.deepStrictEqual(wholeTable(plan, "locations"), [])
      const scans = nodes(plan).filter(
        ({ "Index Name": name = "" }) => name.startsWith("locations_") && name !== "locations_pkey"
      )
      // Skipped rows are read from the index only.
      assert.deepStrictEqual([...new Set(scans.map((node) => node["Node Type"]))], ["Index Only Scan"])
    })
  )

  it.effect.each(lists.filter(({ page }) => page !== "last"))(
    "a page behind a cursor by $sortBy $sortOrder, at the $page place, reads no more of an index than it has",
    ({ page, sortBy, sortOrder }) =>
      Effect.gen(function* () {
        const locations = yield* Locations
        const before = page === "first" ? 0 : rows / 2
        const walks = yield* assertWalk((request) => locations.list(request), {
          sortBy,
          sortOrder,
          limit,
          rows: before,
          table: "locations",
          index: "locations_"
        })
        assert.deepStrictEqual([...new Set(walks.map((node) => node["Node Type"]))], ["Index Only Scan"])
      })
  )

  it.effect.each(indexed)("the filter %s uses the index %s", ([filter, index]) =>
    Effect.gen(function* () {
      const locations = yield* Locations
      const plan = yield* explained(locations.list({ filter: conditions(filter) }))
      assert.include(
        nodes(plan).map((node) => node["Index Name"]),
        index
      )
      assert.isFalse(nodes(plan).some(isScanOf("locations")))
    })
  )

  it.effect.each([
    "name:contains:a1b2c3d",
    "name:startsWith:branch 0f3a1b2",
    "name:endsWith:0f3a1b2",
    "identifier:contains:d-0f3a1b",
    "address.city:contains:c0f3a1b"
  ])("the filter %s is planned once, and not for each request", (filter) =>
    Effect.gen(function* () {
      const locations = yield* Locations
      const request = { filter: conditions(filter), sortBy: "name", sortOrder: "asc", limit } as const
      assert.isAtLeast(yield* keptPlans(locations.list(request)), 6)
    })
  )

  it.effect.each([
    "identifier:equals:ID-x",
    "name:not contains:a1b",
    "name:contains:a1",
    "name:contains:a1b,createdAt:gt:2024-01-02"
  ])("the filter %s is planned for its value", (filter) =>
    Effect.gen(function* () {
      const locations = yield* Locations
      assert.strictEqual(yield* keptPlans(locations.list({ filter: conditions(filter), limit })), 0)
    })
  )

  it.effect("a page of a filter that is not counted is planned for its pattern, as it may walk through an index", () =>
    Effect.gen(function* () {
      const locations = yield* Locations
      const request = { filter: conditions("name:contains:zzzzz"), sortBy: "name", limit, after: "" }
      yield* Effect.replicateEffect(locations.list(request), 12, { discard: true })
      const plan = yield* explained(locations.list(request))
      assert.include(
        nodes(plan).map((node) => node["Index Name"]),
        "locations_trigrams"
      )
    })
  )

  it.effect("a kept plan reads the rows that match from the index of trigrams, however many they are", () =>
    Effect.gen(function* () {
      const locations = yield* Locations
      for (const [filter, total] of [
        ["name:contains:branch", rows],
        ["name:contains:zzzz", 0]
      ] as const) {
        const request = { filter: conditions(filter), limit }
        const plan = nodes(yield* explained(locations.list(request)))
        assert.deepStrictEqual(plan.filter(isScanOf("locations")), [])
        assert.include(
          plan.map((node) => node["Index Name"]),
          "locations_trigrams"
        )
        assert.strictEqual((yield* locations.list(request)).pagination.total, total)
      }
    })
  )

  it.effect("a filter with an index matches case-insensitively in all scripts", () =>
    Effect.gen(function* () {
      const locations = yield* Locations
      const { pooled } = yield* Sql
      const names = (yield* pooled<{ readonly name: string }>`select name from locations`).map(({ name }) => fold(name))
      const values = [
        "a1b",
        "BRANCH 0F",
        "ΟΔΌΣ",
        "οδόσ",
        "100%_",
        "a\\ba",
        "İST",
        "i̇st",
        "çay",
        "ÉTÉ",
        "🥐🥐🥐",
        "straße",
        "STRASSE",
        "zzzz"
      ]
      const totals = yield* Effect.forEach(values, (value) =>
        Effect.map(locations.list({ filter: [{ field: "name", operator: "contains", value }] }), ({ pagination }) => [
          value,
          pagination.total
        ])
      )
      const expected = values.map((value) => [value, names.filter((name) => name.includes(fold(value))).length])
      assert.deepStrictEqual(totals, expected)
      assert.lengthOf(
        expected.filter(([, total]) => total === 0),
        1
      )
    })
  )
})
