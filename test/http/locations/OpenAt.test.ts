import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { pick, randomOf } from "../../support/Random.ts"
import { create, problemsOf, read, send, unique } from "../../support/requests/Requests.ts"
import { runs } from "../../support/Runs.ts"
import * as TestServer from "../../support/TestServer.ts"

interface Period {
  readonly opens: string
  readonly closes: string
}
interface Hours {
  readonly status?: string
  readonly timezone: string
  readonly openingHours: ReadonlyArray<Period & { readonly day: number }>
  readonly specialHours: ReadonlyArray<{ readonly date: string; readonly periods: ReadonlyArray<Period> }>
}

const zones = `Europe/Amsterdam America/New_York America/St_Johns Australia/Lord_Howe Pacific/Chatham Pacific/Kiritimati
  Pacific/Pago_Pago Asia/Kathmandu Asia/Kolkata UTC CET EET MET WET`.split(/\s+/)
const dayMillis = 86_400_000

/** The date and the time on the clocks of a zone. */
const localOf = (timeZone: string, instant: Date) => {
  const format = new Intl.DateTimeFormat("en", {
    ...({ timeZone, hourCycle: "h23", year: "numeric", month: "2-digit" } as const),
    ...({ day: "2-digit", hour: "2-digit", minute: "2-digit" } as const)
  })
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]))
  return { date: `${parts["year"]}-${parts["month"]}-${parts["day"]}`, time: `${parts["hour"]}:${parts["minute"]}` }
}

const dayBefore = (date: string) => new Date(Date.parse(date) - dayMillis).toISOString().slice(0, 10)

/** The model: a period belongs to the day it begins on, and the clock on the wall says whether it is over. */
const isOpen = ({ openingHours, specialHours, status = "open", timezone }: Hours, instant: Date) => {
  const { date, time } = localOf(timezone, instant)
  const periodsOf = (date: string) =>
    specialHours.find((special) => special.date === date)?.periods ??
    openingHours.filter(({ day }) => day === (new Date(date).getUTCDay() || 7))
  return (
    status === "open" &&
    (periodsOf(date).some(({ closes, opens }) => opens <= time && (time < closes || closes <= opens)) ||
      periodsOf(dayBefore(date)).some(({ closes, opens }) => closes <= opens && time < closes))
  )
}

const openAt = (city: string, time: string, more = "") =>
  Effect.map(
    send("GET", `/v1/locations?openAt=${time}&filter=address.city:equals:${city}&limit=500${more}`),
    ({ body }) => ({
      uuids: body.data.map(({ uuid }: { readonly uuid: string }) => uuid) as ReadonlyArray<string>,
      total: body.pagination?.total
    })
  )

const one = (period: Period, day: number) => ({ day, ...period })

layer(TestServer.layer(), { excludeTestServices: true })("locations that are open", (it) => {
  it.effect("those that are open at a time are what a model on the clocks of their zones finds", () =>
    Effect.gen(function* () {
      const random = randomOf(17)
      const city = unique("City")
      const clock = () => `${String(Math.floor(random() * 24)).padStart(2, "0")}:${pick(random, ["00", "30", "59"])}`
      const period = (): Period =>
        pick(random, [
          { opens: "00:00", closes: "24:00" },
          { opens: "09:00", closes: "09:00" },
          { opens: "18:00", closes: pick(random, ["00:00", "02:30"]) },
          { opens: clock(), closes: clock() }
        ])
      // Around changes of the clocks in both hemispheres, and days with hours of their own.
      const days = ["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04", "2026-12-25"]
      const made = new Map<string, Hours>()
      for (let count = 0; count < runs(120); count++) {
        const hours: Hours = {
          ...(random() < 0.3 ? { status: pick(random, ["open", "temporarilyClosed", "permanentlyClosed"]) } : {}),
          timezone: pick(random, zones),
          openingHours: [1, 2, 3, 4, 5, 6, 7].filter(() => random() < 0.5).map((day) => one(period(), day)),
          specialHours: days
            .flatMap((day) => [dayBefore(day), day])
            .filter(() => random() < 0.3)
            .map((date) => ({ date, periods: random() < 0.4 ? [] : [period()] }))
        }
        const { body, status } = yield* send("POST", "/v1/locations", {
          body: { name: "Branch", identifier: unique(), address: { city }, ...hours }
        })
        // Random periods may overlap those of the day before.
        if (status === 201) made.set(body.data.uuid, hours)
      }
      assert.isAbove(made.size, runs(120) / 4)
      const found = { open: 0, closed: 0 }
      for (let count = 0; count < runs(150); count++) {
        const minutes = Math.floor(random() * 3 * 24 * 60) - 24 * 60
        const instant = new Date(Date.parse(pick(random, days)) + minutes * 60_000)
        const expected = [...made].filter(([, hours]) => isOpen(hours, instant)).map(([uuid]) => uuid)
        const { total, uuids } = yield* openAt(city, instant.toISOString())
        assert.sameMembers([...uuids], expected, instant.toISOString())
        assert.strictEqual(total, expected.length)
        found.open += expected.length
        found.closed += made.size - expected.length
      }
      assert.isAbove(Math.min(found.open, found.closed), 0)
    })
  )

  it.effect(
    "a night goes on until its end, past midnight, a change of the clocks and a day with hours of its own",
    () =>
      Effect.gen(function* () {
        const city = unique("City")
        const night = { opens: "22:00", closes: "06:00" }
        const uuid = yield* create({
          address: { city },
          timezone: "Europe/Amsterdam",
          openingHours: [one(night, 6)],
          specialHours: [
            { date: "2026-07-05", periods: [] },
            { date: "2026-07-11", periods: [{ opens: "10:00", closes: "11:00" }] }
          ]
        })
        const cases: ReadonlyArray<readonly [time: string, isOpen: boolean]> = [
          // The clocks go forward: 22:00 is 21:00 UTC, 06:00 is 04:00 UTC.
          ["2026-03-28T20:59:59.999Z", false],
          ["2026-03-28T21:00:00.000Z", true],
          ["2026-03-29T03:59:59.999Z", true],
          ["2026-03-29T04:00:00.000Z", false],
          // They go back: 22:00 is 20:00 UTC, 06:00 is 05:00 UTC.
          ["2026-10-24T19:59:59.999Z", false],
          ["2026-10-24T20:00:00.000Z", true],
          ["2026-10-25T04:59:59.999Z", true],
          ["2026-10-25T05:00:00.000Z", false],
          // On Sunday the 5th of July it is closed, but for the end of the night of Saturday.
          ["2026-07-05T03:59:00.000Z", true],
          ["2026-07-05T04:00:00.000Z", false],
          // On Saturday the 11th of July other hours replace the night.
          ["2026-07-11T08:30:00.000Z", true],
          ["2026-07-11T21:00:00.000Z", false],
          ["2026-07-12T02:00:00.000Z", false]
        ]
        for (const [time, isOpen] of cases) {
          assert.deepStrictEqual((yield* openAt(city, time)).uuids, isOpen ? [uuid] : [], time)
        }
      })
  )

  it.effect("now is the time of the request, and those without hours or with another status are left out", () =>
    Effect.gen(function* () {
      const city = unique("City")
      const always = {
        timezone: "Asia/Tokyo",
        openingHours: [1, 2, 3, 4, 5, 6, 7].map((day) => one({ opens: "00:00", closes: "24:00" }, day))
      }
      const address = { city }
      const a = yield* create({ address, name: "A", ...always })
      const b = yield* create({ address, name: "B", ...always, status: "open" })
      yield* create({ address, ...always, status: "temporarilyClosed" })
      yield* create({ address, ...always, status: "permanentlyClosed" })
      yield* create({ address })
      yield* create({ address, timezone: "Asia/Tokyo" })
      assert.sameMembers([...(yield* openAt(city, "now")).uuids], [a, b])
      assert.deepStrictEqual((yield* openAt(city, "now", "&sortBy=name&sortOrder=asc")).uuids, [a, b])
      const page = yield* send(
        "GET",
        "/v1/locations?openAt=now&sortBy=name&sortOrder=desc&limit=1&page=2&filter=address.city:equals:" + city
      )
      assert.deepStrictEqual([page.body.data[0].uuid, page.body.pagination.total], [a, 2])
      const first = yield* send(
        "GET",
        `/v1/locations?openAt=now&after=&total=true&sortBy=name&sortOrder=asc&limit=1&filter=address.city:equals:${city}`
      )
      assert.deepStrictEqual([first.body.data[0].uuid, first.body.pagination.total], [a, 2])
      const next = `sortBy=name&sortOrder=asc&limit=1&filter=address.city:equals:${city}&after=${first.body.pagination.next}`
      assert.strictEqual((yield* send("GET", `/v1/locations?openAt=now&${next}`)).body.data[0].uuid, b)
      assert.deepStrictEqual(problemsOf(yield* send("GET", `/v1/locations?${next}`)), [
        400,
        "InvalidRequestError",
        "after invalidFormat"
      ])
      // Without a filter the total is exact as well.
      const alone = yield* send("GET", "/v1/locations?openAt=now&limit=500")
      assert.strictEqual(alone.body.pagination.total, alone.body.data.length)
      assert.includeMembers(
        alone.body.data.map(({ uuid }: { readonly uuid: string }) => uuid),
        [a, b]
      )
    })
  )

  it.effect("a time zone in lower case has the clock of the zone, also where it was stored so", () =>
    Effect.gen(function* () {
      const city = unique("City")
      const openingHours = [1, 2, 3, 4, 5, 6, 7].map((day) => one({ opens: "09:00", closes: "10:00" }, day))
      const uuids: Array<string> = []
      const { pooled } = yield* Sql
      for (const timezone of ["cet", "met", "Cet"]) {
        const uuid = yield* create({ address: { city }, timezone, openingHours })
        uuids.push(uuid)
        assert.strictEqual((yield* read(uuid)).timezone, timezone.toUpperCase())
        yield* pooled`update locations set timezone = ${timezone} where uuid = ${uuid}::uuid`
      }
      assert.sameMembers([...(yield* openAt(city, "2026-07-01T07:30:00.000Z")).uuids], uuids)
      assert.deepStrictEqual((yield* openAt(city, "2026-07-01T08:30:00.000Z")).uuids, [])
      for (const timezone of ["PST", "ist"]) {
        const body = { name: "Branch", identifier: unique(), timezone, openingHours }
        assert.deepStrictEqual(problemsOf(yield* send("POST", "/v1/locations", { body })), [
          400,
          "InvalidRequestError",
          "timezone unknownTimeZone"
        ])
      }
    })
  )

  it.effect("a location whose time zone the server does not know is not open, and its other members are written", () =>
    Effect.gen(function* () {
      const city = unique("City")
      const openingHours = [1, 2, 3, 4, 5, 6, 7].map((day) => one({ opens: "00:00", closes: "24:00" }, day))
      const hours = { address: { city }, timezone: "Europe/Amsterdam", openingHours }
      const [known, unknown] = [yield* create(hours), yield* create(hours)]
      const { pooled } = yield* Sql
      // As after an update of the server, or on another one. The platform knows these two names.
      yield* pooled.withTransaction(
        Effect.andThen(
          pooled`set local session_replication_role = replica`,
          pooled`update locations set timezone = 'US/Pacific-New' where uuid = ${unknown}::uuid`
        )
      )
      assert.deepStrictEqual((yield* openAt(city, "now")).uuids, [known])
      const patch = (body: object) => send("PATCH", `/v1/locations/${unknown}`, { body })
      assert.strictEqual((yield* patch({ name: "Renamed" })).status, 200)
      assert.strictEqual((yield* read(unknown)).timezone, "US/Pacific-New")
      const bulk = yield* send("POST", "/v1/locations/bulk", {
        body: { operations: [{ op: "update", uuid: unknown, data: { status: "open" } }] }
      })
      assert.strictEqual(bulk.body.data[0].status, 200, bulk.text)
      const other = yield* patch({ timezone: "Canada/East-Saskatchewan" })
      assert.deepStrictEqual(problemsOf(other), [400, "InvalidRequestError", "timezone unknownTimeZone"])
      assert.strictEqual((yield* patch({ timezone: "Asia/Tokyo" })).status, 200)
      assert.sameMembers([...(yield* openAt(city, "now")).uuids], [known, unknown])
    })
  )

  it.effect("only now and UTC timestamps with milliseconds are times", () =>
    Effect.gen(function* () {
      for (const time of ["", "later", "NOW", "2026-01-01", "2026-01-01T10:00:00Z", "2026-02-30T10:00:00.000Z"]) {
        assert.deepStrictEqual(
          problemsOf(yield* send("GET", `/v1/locations?openAt=${time}`)),
          [400, "InvalidRequestError", "openAt invalidFormat"],
          time
        )
      }
    })
  )
})
