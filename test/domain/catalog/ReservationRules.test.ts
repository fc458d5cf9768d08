import { assert, describe, it } from "@effect/vitest"
import { problemsOf, type ReservationSettings } from "../../../src/domain/catalog/ReservationRules.ts"

const defaults = {
  unit: "day",
  quantity: 1,
  minDuration: 1,
  leadTime: 0,
  maxAdvance: 365,
  bufferBefore: 0,
  bufferAfter: 0,
  approvalRequired: false,
  availability: [],
  blackouts: []
} as unknown as ReservationSettings

/** A Monday. */
const now = "2026-11-30T12:00:30.000Z"

/** The problems of a period, as `path code`. */
const problems = (from: string, until: string, settings: Partial<ReservationSettings> = {}): ReadonlyArray<string> =>
  problemsOf({ from: Date.parse(from), until: Date.parse(until) }, { ...defaults, ...settings }, Date.parse(now)).map(
    ({ code, path }) => `${path} ${code}`
  )

const at = (day: number, time = "00:00") => `2026-12-${String(day).padStart(2, "0")}T${time}:00.000Z`
const hours = (weekday: number, from: string, until: string) => ({ weekday, from, until })

describe("rules of reservations", () => {
  it("a reservation of a day within a year has no problem, and one that ends before it begins is not in order", () => {
    assert.deepStrictEqual(problems(at(1), at(2)), [])
    for (const until of [at(1), "2026-11-30T00:00:00.000Z"]) {
      assert.deepStrictEqual(problems(at(1), until), ["until notInOrder"])
    }
  })

  it("the duration is at least minDuration and at most maxDuration units", () => {
    for (const [unit, shorter, exact, longer] of [
      ["hour", at(1, "01:59"), at(1, "02:00"), at(1, "02:01")],
      ["day", at(2, "23:59"), at(3), at(3, "00:01")],
      ["week", at(14, "23:59"), at(15), at(15, "00:01")]
    ] as const) {
      const limits = { unit, minDuration: 2, maxDuration: 2 }
      assert.deepStrictEqual(problems(at(1), shorter, limits), ["until tooShort"])
      assert.deepStrictEqual(problems(at(1), exact, limits), [])
      assert.deepStrictEqual(problems(at(1), longer, limits), ["until tooLong"])
    }
  })

  it("without a lead time a reservation begins from the current minute on", () => {
    const begins = (time: string) => problems(`2026-11-30T12:${time}.000Z`, at(3))
    assert.deepStrictEqual(begins("00:00"), [])
    assert.deepStrictEqual(problems("2026-11-30T11:59:59.999Z", at(3)), ["from tooEarly"])
  })

  it("a reservation begins at least leadTime and at most maxAdvance units from now", () => {
    const limits = { leadTime: 2, maxAdvance: 4 }
    for (const [from, expected] of [
      ["2026-12-02T11:59:59.999Z", ["from tooEarly"]],
      ["2026-12-02T12:00:00.000Z", []],
      ["2026-12-04T12:00:30.000Z", []],
      ["2026-12-04T12:00:30.001Z", ["from tooLate"]]
    ] as const) {
      assert.deepStrictEqual(problems(from, at(20), limits), expected, from)
    }
    assert.deepStrictEqual(problems(at(14), at(28), { unit: "week", leadTime: 2 }), ["from tooEarly"])
  })

  it("a reservation by the day begins and ends within the hours, whatever lies between", () => {
    const availability = [1, 2, 3, 4, 5].map((weekday) => hours(weekday, "09:00", "17:00"))
    for (const [from, until, expected] of [
      [at(1, "09:00"), at(4, "17:00"), []],
      [at(4, "16:59"), at(7, "09:01"), []],
      [at(1, "08:59"), at(2, "09:01"), ["from unavailable"]],
      [at(1, "17:00"), at(2, "17:00"), ["from unavailable"]],
      [at(1, "09:00"), at(2, "17:01"), ["until unavailable"]],
      [at(1, "09:00"), at(2, "09:00"), ["until unavailable"]],
      [at(5, "09:00"), at(6, "09:00"), ["from unavailable", "until unavailable"]]
    ] as const) {
      assert.deepStrictEqual(problems(from, until, { availability }), expected, `${from} ${until}`)
    }
  })

  it("a reservation by the hour is within the hours as a whole, and 23:59 is the end of the day", () => {
    const availability = [
      hours(1, "09:00", "12:00"),
      hours(1, "12:00", "17:00"),
      hours(2, "09:00", "17:00"),
      hours(5, "18:00", "23:59"),
      hours(6, "00:00", "23:59")
    ]
    for (const [from, until, expected] of [
      [at(7, "09:00"), at(7, "17:00"), []],
      [at(7, "16:00"), at(8, "10:00"), ["until unavailable"]],
      [at(7, "16:00"), at(7, "18:00"), ["until unavailable"]],
      [at(4, "22:00"), at(6), []],
      [at(4, "22:00"), at(6, "00:01"), ["until unavailable"]]
    ] as const) {
      assert.deepStrictEqual(problems(from, until, { availability, unit: "hour" }), expected, `${from} ${until}`)
    }
  })

  it("hours that leave no gap in a week have none in any period", () => {
    const availability = Array.from({ length: 7 }, (_, day) => hours(day + 1, "00:00", "23:59"))
    const settings = { availability, unit: "hour" } as const
    assert.deepStrictEqual(problems(at(1), "9999-12-31T23:59:59.999Z", settings), [])
    assert.deepStrictEqual(problems(at(1), at(9), { ...settings, availability: availability.slice(1) }), [
      "until unavailable"
    ])
  })

  it("a reservation does not overlap a blackout, and may touch it", () => {
    const blackouts = [{ from: at(10), until: at(12), reason: "Stocktaking" }]
    for (const [from, until, expected] of [
      [at(8), at(10), []],
      [at(12), at(14), []],
      [at(9), at(10, "00:01"), ["from blackout"]],
      [at(11), at(20), ["from blackout"]],
      [at(9), at(20), ["from blackout"]]
    ] as const) {
      assert.deepStrictEqual(problems(from, until, { blackouts }), expected)
    }
  })

  it("all problems are reported together", () =>
    assert.deepStrictEqual(
      problems("2026-11-01T00:00:00.000Z", "2026-11-01T01:00:00.000Z", {
        availability: [hours(1, "00:00", "23:59")],
        blackouts: [{ from: "2026-10-01T00:00:00.000Z", until: at(1) }]
      }),
      ["until tooShort", "from tooEarly", "from unavailable", "until unavailable", "from blackout"]
    ))
})
