import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Location } from "../../../src/domain/locations/Location.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { moment } from "../../support/changes/World.ts"
import { eventsOf, shown } from "../../support/requests/LogRequests.ts"
import { create, expectError, problemsOf, read, send, unique } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const timezone = "Europe/Amsterdam"
const monday = { day: 1, opens: "09:00", closes: "17:00" }
const tuesday = { day: 2, opens: "12:00", closes: "01:00" }
const christmas = { date: "2026-12-25", label: "Christmas Day", periods: [] }
const hours = { timezone, openingHours: [monday, tuesday], specialHours: [christmas] }

const post = (fields: object) =>
  send("POST", "/v1/locations", { body: { name: "Branch", identifier: unique(), ...fields } })
const patch = (uuid: string, body: object) => send("PATCH", `/v1/locations/${uuid}`, { body })

const required = [400, "InvalidRequestError", "timezone required"]

layer(TestServer.layer(), { excludeTestServices: true })("opening hours", (it) => {
  it.effect("a location has status, time zone and hours only if they are set, and an empty list unsets hours", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const members = ["status", "timezone", "openingHours", "specialHours"]
      assert.doesNotHaveAnyKeys(yield* read(uuid), members)
      yield* patch(uuid, { status: "temporarilyClosed", ...hours, openingHours: [tuesday, monday] })
      assert.deepInclude(yield* read(uuid), { status: "temporarilyClosed", ...hours })
      yield* patch(uuid, { openingHours: [], specialHours: null, status: null })
      const after = yield* read(uuid)
      assert.deepInclude(after, { timezone })
      assert.doesNotHaveAnyKeys(after, ["status", "openingHours", "specialHours"])
      yield* patch(uuid, { specialHours: [], openingHours: null })
      assert.deepStrictEqual(yield* read(uuid), after)
      assert.doesNotHaveAnyKeys(yield* read(yield* create({ openingHours: [], specialHours: [] })), members)
    })
  )

  it.effect("hours need a time zone, also after a patch, alone and in a bulk request", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(problemsOf(yield* post({ openingHours: [monday] })), required)
      assert.deepStrictEqual(problemsOf(yield* post({ specialHours: [christmas] })), required)
      const uuid = yield* create()
      assert.deepStrictEqual(problemsOf(yield* patch(uuid, { openingHours: [monday] })), required)
      yield* patch(uuid, hours)
      assert.deepStrictEqual(problemsOf(yield* patch(uuid, { timezone: null })), required)
      assert.strictEqual((yield* patch(uuid, { timezone: null, openingHours: null, specialHours: null })).status, 200)
      const bulk = yield* send("POST", "/v1/locations/bulk", {
        body: {
          operations: [
            { op: "create", data: { name: "A", identifier: unique(), openingHours: [monday] } },
            { op: "create", data: { name: "A", identifier: unique(), ...hours } }
          ]
        }
      })
      const [first, second] = bulk.body.data.results ?? bulk.body.data
      assert.deepStrictEqual(problemsOf({ status: first.status, body: first.error }), required)
      assert.strictEqual(second.status, 201, bulk.text)
    })
  )

  it.effect("a time zone that only the platform knows is rejected", () =>
    Effect.gen(function* () {
      const zones = Intl.supportedValuesOf("timeZone")
      const uuid = yield* create()
      const answers = yield* Effect.forEach([...zones, "UTC", "CET", "Asia/Kolkata"], (timezone) =>
        Effect.map(patch(uuid, { timezone }), (answer) =>
          answer.status === 200 ? "accepted" : problemsOf(answer).join(" ")
        )
      )
      assert.include(
        ["accepted", "accepted,400 InvalidRequestError timezone unknownTimeZone"],
        [...new Set(answers)].join()
      )
      // PostgreSQL has no such name.
      assert.deepStrictEqual(problemsOf(yield* patch(uuid, { timezone: "Etc/Unknown" })), [
        400,
        "InvalidRequestError",
        "timezone unknownTimeZone"
      ])
    })
  )

  it.effect("a time zone in lower case is stored, and found, under the name that the IANA has for it", () =>
    Effect.gen(function* () {
      for (const zone of ["Asia/Calcutta", "Asia/Kolkata", "Europe/Kyiv", "US/Pacific", "Etc/GMT-14"]) {
        const uuid = yield* create({ timezone: zone.toLowerCase() })
        assert.strictEqual((yield* read(uuid)).timezone, zone)
        const found = yield* send("GET", `/v1/locations?limit=500&filter=timezone:equals:${zone}`)
        assert.include(
          found.body.data.map(({ uuid }: { readonly uuid: string }) => uuid),
          uuid
        )
      }
      const { pooled } = yield* Sql
      const rows = yield* pooled<{ readonly name: string }>`
        select name from pg_timezone_names where name !~ '^(?:posix|right|Factory|localtime)' order by name`
      const zones = rows.map(({ name }) => name)
      const { schema } = Location.fields.timezone
      const decoded = yield* Effect.forEach(zones, (zone) => Schema.decodeEffect(schema)(zone.toLowerCase()))
      assert.deepStrictEqual(decoded, zones)
    })
  )

  it.effect("special hours are filtered by their dates, in order and by parts of them", () =>
    Effect.gen(function* () {
      const city = unique("city")
      const uuid = yield* create({ address: { city }, ...hours })
      const find = (condition: string) => {
        const filter = `address.city:equals:${city},specialHours.date:${condition}`
        return send("GET", `/v1/locations?filter=${encodeURIComponent(filter)}`)
      }
      const found = (condition: string) =>
        Effect.map(find(condition), ({ body }) => body.data.map((location: { readonly uuid: string }) => location.uuid))
      for (const condition of [
        "equals:2026-12-25",
        "in:(2026-12-24|2026-12-25)",
        "gt:2026-12-24",
        "gte:2026-12-25",
        "lt:2026-12-26",
        "lte:2026-12-25",
        "gte:2026-12-25T00:00:00.000Z",
        "not equals:2026-12-24",
        "startsWith:2026-12",
        "contains:-12-",
        "endsWith:-25",
        "exists:true"
      ])
        assert.deepStrictEqual(yield* found(condition), [uuid], condition)
      for (const condition of [
        "equals:2026-12-26",
        "gt:2026-12-25",
        "gte:2026-12-26",
        "lt:2026-12-25",
        "lte:2026-12-24",
        "gte:2026-12-25T00:00:00.001Z",
        "startsWith:2026-11"
      ])
        assert.deepStrictEqual(yield* found(condition), [], condition)
      for (const condition of ["equals:25-12-2026", "in:(2026-12-25|2026-12)", "gte:2026-12", "lt:2026-02-30"])
        assert.strictEqual(
          expectError(yield* find(condition), 400, "InvalidFilterError").code,
          "invalidValue",
          condition
        )
    })
  )

  it.effect("hours are filtered by their members and by whether there are any", () =>
    Effect.gen(function* () {
      const city = unique("city")
      const address = { city }
      const open = yield* create({ address, ...hours })
      const closed = yield* create({ address, status: "permanentlyClosed", timezone: "America/New_York" })
      const found = (filter: string) =>
        Effect.map(
          send("GET", `/v1/locations?filter=${encodeURIComponent(`address.city:equals:${city},${filter}`)}`),
          ({ body }) => body.data.map(({ uuid }: { readonly uuid: string }) => uuid)
        )
      assert.deepStrictEqual(yield* found("openingHours.day:equals:2"), [open])
      assert.deepStrictEqual(yield* found("openingHours.closes:equals:01:00"), [open])
      assert.deepStrictEqual(yield* found("specialHours.date:startsWith:2026-12"), [open])
      assert.deepStrictEqual(yield* found("specialHours.label:contains:christmas"), [open])
      assert.deepStrictEqual(yield* found("openingHours:exists:false"), [closed])
      assert.deepStrictEqual(yield* found("specialHours.periods:exists:true"), [])
      assert.deepStrictEqual(yield* found("timezone:equals:America/New_York"), [closed])
      assert.deepStrictEqual(yield* found("status:equals:permanentlyClosed"), [closed])
      assert.deepStrictEqual(yield* found("status:not equals:permanentlyClosed"), [open])
    })
  )

  it.effect(
    "hours are in the log, in the past and in restored locations, and the minutes derived from them are not",
    () =>
      Effect.gen(function* () {
        const uuid = yield* create()
        const then = yield* moment
        const { events } = yield* eventsOf(patch(uuid, hours))
        assert.deepStrictEqual(shown(events), [
          {
            type: "location.updated",
            uuid,
            changes: {
              timezone: { after: timezone },
              openingHours: { after: [monday, tuesday] },
              specialHours: { after: [christmas] }
            }
          }
        ])
        const at = (time: string) =>
          Effect.map(send("GET", `/v1/locations/${uuid}?at=${time}`), ({ body }) => body.data)
        const between = yield* moment
        yield* patch(uuid, { openingHours: [monday], specialHours: null })
        assert.notProperty(yield* at(then), "openingHours")
        assert.deepInclude(yield* at(between), hours)
        yield* send("DELETE", `/v1/locations/${uuid}`)
        yield* send("POST", `/v1/locations/${uuid}/restore`, { body: {} })
        const restored = yield* read(uuid)
        assert.deepInclude(restored, { timezone, openingHours: [monday] })
        assert.notProperty(restored, "specialHours")
      })
  )

  it.effect("a plan shows hours as one member each, and a file that has them already changes nothing", () =>
    Effect.gen(function* () {
      const identifier = unique("planned")
      yield* create({ identifier, ...hours })
      const plan = (row: object) =>
        Effect.flatMap(
          send("POST", "/v1/plans?resource=locations&mode=partial", { body: [{ identifier, ...row }] }),
          ({ body }) =>
            Effect.map(send("GET", `/v1/plans/${body.data.uuid}/changes`), ({ body: changes }) => ({
              counts: body.data.counts,
              changes: changes.data
            }))
        )
      assert.deepInclude((yield* plan(hours)).counts, { unchanged: 1, update: 0 })
      const { changes } = yield* plan({ openingHours: [monday], specialHours: [] })
      assert.deepStrictEqual(changes[0].changes, [
        { path: "openingHours", before: [monday, tuesday], after: [monday] },
        { path: "specialHours", before: [christmas] }
      ])
    })
  )
})
