import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Locales, make } from "../../../src/domain/schema/Locale.ts"
import { LocationCreate, LocationId, PartialLocation, sortable } from "../../../src/domain/locations/Location.ts"
import { noPrecondition, type Precondition } from "../../../src/domain/query/Precondition.ts"
import { entityTag } from "../../../src/sql/EntityTag.ts"
import { Memberships } from "../../../src/repositories/people/Memberships.ts"
import { Locations } from "../../../src/repositories/locations/Locations.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"

const services = Locations.layer
  .pipe(Layer.provide(Memberships.layer))
  .pipe(
    Layer.provide(Layer.succeed(Locales, make(["nl", "nl-NL", "de-CH"]))),
    Layer.provideMerge(Postgres.sql),
    Layer.provide([publicUrl, settings()])
  )

const create = (location: object) =>
  Effect.flatMap(Locations, (locations) => locations.create(Schema.decodeUnknownSync(LocationCreate)(location)))
const patch = (uuid: LocationId, change: object, precondition: Precondition = noPrecondition) =>
  Effect.flatMap(Locations, (locations) =>
    locations.update(uuid, Schema.decodeUnknownSync(PartialLocation)(change), precondition)
  )
const read = (uuid: LocationId) =>
  Effect.flatMap(Locations, (locations) =>
    Effect.map(locations.get(uuid), (json) => JSON.parse(json) as Record<string, unknown>)
  )
const created = (location: object) =>
  Effect.flatMap(create(location), ({ uuid }) => read(uuid)) as Effect.Effect<
    Record<string, string>,
    unknown,
    Locations
  >
const unknown = Schema.decodeUnknownSync(LocationId)("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30")
const incomplete: object = {
  _tag: "InvalidRequestError",
  issues: [{ in: "body", path: "coordinates", code: "incomplete" }]
}

layer(services, { excludeTestServices: true })("repository of locations", (it) => {
  it.effect("a create or update with a taken identifier is a DuplicateIdentifierError", () =>
    Effect.gen(function* () {
      yield* create({ name: "a", identifier: "taken" })
      const { uuid } = yield* create({ name: "b", identifier: "free" })
      const expected: object = { _tag: "DuplicateIdentifierError", identifier: "taken" }
      assert.deepInclude(yield* Effect.flip(create({ name: "c", identifier: " taken " })), expected)
      assert.deepInclude(yield* Effect.flip(patch(uuid, { identifier: "taken", name: "c" })), expected)
      assert.deepInclude(yield* read(uuid), { name: "b", identifier: "free" })
    })
  )

  it.effect("of concurrent creates with one identifier exactly one succeeds", () =>
    Effect.gen(function* () {
      const attempts = Array.from({ length: 12 }, () => Effect.result(create({ name: "a", identifier: "race" })))
      const results = yield* Effect.all(attempts, { concurrency: "unbounded" })
      const tags = results.map((result) => (result._tag === "Success" ? "created" : result.failure._tag))
      assert.sameMembers(tags, ["created", ...Array.from({ length: 11 }, () => "DuplicateIdentifierError")])
    })
  )

  it.effect("identifiers are case-sensitive, and a similar one is reported", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* create({ name: "a", identifier: "ΣΊΓΜΑΣ-1" })).similarIdentifier)
      const { similarIdentifier, uuid } = yield* create({ name: "a", identifier: "σίγμας-1" })
      assert.strictEqual(similarIdentifier, "ΣΊΓΜΑΣ-1")
      assert.isUndefined((yield* patch(uuid, { name: "b" })).similarIdentifier)
      assert.strictEqual((yield* patch(uuid, { identifier: "Σίγμας-1" })).similarIdentifier, "ΣΊΓΜΑΣ-1")
    })
  )

  it.effect("the identifier of a deleted location can be reused", () =>
    Effect.gen(function* () {
      const locations = yield* Locations
      const { uuid } = yield* create({ name: "a", identifier: "again" })
      assert.deepStrictEqual(yield* locations.delete(uuid, noPrecondition), {
        kind: "locations",
        uuid,
        action: "deleted",
        changed: true
      })
      assert.notStrictEqual((yield* create({ name: "b", identifier: "again" })).uuid, uuid)
    })
  )

  it.effect("coordinates have both members or none, also after a patch", () =>
    Effect.gen(function* () {
      for (const coordinates of [{ latitude: 1 }, { latitude: null, longitude: 1 }]) {
        assert.containSubset(yield* Effect.flip(create({ name: "a", identifier: "half", coordinates })), incomplete)
      }
      const { uuid } = yield* create({ name: "a", identifier: "whole" })
      assert.containSubset(yield* Effect.flip(patch(uuid, { coordinates: { latitude: 1 } })), incomplete)
      yield* patch(uuid, { coordinates: { latitude: 1, longitude: 2 } })
      yield* patch(uuid, { coordinates: { latitude: 3 } })
      assert.deepStrictEqual((yield* read(uuid))["coordinates"], { latitude: 3, longitude: 2 })
      assert.containSubset(yield* Effect.flip(patch(uuid, { coordinates: { longitude: null } })), incomplete)
      yield* patch(uuid, { coordinates: { latitude: null, longitude: null } })
      assert.notProperty(yield* read(uuid), "coordinates")
    })
  )

  it.effect("an unknown uuid is a LocationNotFoundError, before any other error", () =>
    Effect.gen(function* () {
      const locations = yield* Locations
      yield* create({ name: "a", identifier: "exists" })
      const changes = [{}, { name: "a" }, { locale: "xx" }, { identifier: "exists" }, { coordinates: { latitude: 1 } }]
      const attempts: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }, Locations>> = [
        locations.get(unknown),
        locations.delete(unknown, noPrecondition),
        ...changes.map((change) => patch(unknown, change))
      ]
      const tags = yield* Effect.forEach(attempts, (attempt) => Effect.map(Effect.flip(attempt), ({ _tag }) => _tag))
      assert.deepStrictEqual([...new Set(tags)], ["LocationNotFoundError"])
    })
  )

  it.effect("a locale is stored in canonical form and must be supported", () =>
    Effect.gen(function* () {
      const { locale, uuid } = yield* created({ name: "a", identifier: "locale", locale: "NL_nl" })
      assert.strictEqual(locale, "nl-NL")
      const error = yield* Effect.flip(patch(uuid as LocationId, { locale: "fr" }))
      assert.deepInclude(error, { _tag: "InvalidLocaleError", locale: "fr", supported: ["nl", "nl-NL", "de-CH"] })
      yield* patch(uuid as LocationId, { locale: null })
      assert.notProperty(yield* read(uuid as LocationId), "locale")
    })
  )

  it.effect("a patch without effect writes nothing, and every other patch increases editedAt", () =>
    Effect.gen(function* () {
      const before = yield* created({ name: "a", identifier: "same", postalCodes: ["12"], address: { city: "b" } })
      const uuid = before["uuid"] as LocationId
      for (const change of [
        {},
        { name: " a " },
        { address: {} },
        { address: { city: "b", zone: null } },
        { postalCodes: ["12", "12"] },
        { contact: { email: null } },
        { other: null }
      ]) {
        yield* patch(uuid, change)
        assert.deepStrictEqual(yield* read(uuid), before)
      }
      let last = before["editedAt"]!
      for (const change of [{ name: "b" }, { name: "c" }, { postalCodes: [] }, { address: { city: null } }]) {
        yield* patch(uuid, change)
        const { createdAt, editedAt } = yield* read(uuid)
        assert.strictEqual(createdAt, before["createdAt"])
        assert.isTrue(String(editedAt) > last)
        last = String(editedAt)
      }
    })
  )

  it.effect("concurrent patches of different members are all applied", () =>
    Effect.gen(function* () {
      const { uuid } = yield* create({ name: "a", identifier: "together" })
      const dna = Array.from({ length: 10 }, (_, index) => `extraDna${index + 1}`)
      yield* Effect.forEach(dna, (name) => patch(uuid, { other: { [name]: name } }), { concurrency: "unbounded" })
      assert.deepStrictEqual((yield* read(uuid))["other"], Object.fromEntries(dna.map((name) => [name, name])))
    })
  )

  it.effect("of concurrent writes with the same If-Match exactly one succeeds", () =>
    Effect.gen(function* () {
      const locations = yield* Locations
      const { uuid } = yield* create({ name: "a", identifier: "guarded" })
      const tag = entityTag(yield* locations.get(uuid))
      const change = (name: string) => patch(uuid, { name }, ['"other"', tag])
      const exits = yield* Effect.all(
        ["b", "c", "d", "e"].map((name) => Effect.exit(change(name))),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        exits.filter(({ _tag }) => _tag === "Success"),
        1
      )
      assert.match(JSON.stringify(exits), /PreconditionFailedError/)
    })
  )

  it.effect("pages are equal from either end of the index, with missing values last", () =>
    Effect.gen(function* () {
      const locations = yield* Locations
      const { pooled } = yield* Sql
      yield* pooled`delete from locations`
      yield* pooled`insert into locations (uuid, name, identifier, address, locale, created_at)
        select gen_random_uuid(), chr(97 + i % 4), 'i' || i, case when i % 3 > 0 then jsonb_build_object('city', chr(65 + i % 5), 'countryCode', 'NL') end,
          case when i % 2 = 0 then 'nl' end, timestamptz '2026-01-01' + (i / 3) * interval '1 day' from generate_series(1, 53) i`
      for (const sortBy of sortable) {
        for (const sortOrder of ["asc", "desc"] as const) {
          const column = sortBy.includes(".") ? `address->>'${sortBy.slice(8)}'` : sortBy.replace("At", "_at")
          const collated = sortBy.endsWith("At") ? column : `(${column}) collate "und-x-icu"`
          const expected = yield* pooled.unsafe<{ readonly uuid: string }>(
            `select uuid from locations order by ${collated} ${sortOrder} nulls last, uuid ${sortOrder}`
          )
          const pages = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8, 9], (page) =>
            locations.list({ sortBy, sortOrder, limit: 7, page })
          )
          const uuids = pages.flatMap(({ data }) =>
            (JSON.parse(data) as ReadonlyArray<{ readonly uuid: string }>).map(({ uuid }) => uuid)
          )
          assert.deepStrictEqual(
            uuids,
            expected.map(({ uuid }) => uuid),
            `${sortBy} ${sortOrder}`
          )
          assert.deepStrictEqual(
            pages.map(({ pagination }) => pagination.total),
            Array.from(pages, () => 53)
          )
        }
      }
    })
  )
})
