import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Location, LocationCreate } from "../../../src/domain/locations/Location.ts"
import { describe as issuesOf, strict } from "../../../src/domain/write/Issues.ts"
import { compare, kept, rejects } from "../cases.ts"

const { openingHours, status, timezone } = Location.fields
const at = (day: number, opens: string, closes: string) => ({ day, opens, closes })

/** The path and the code of each problem with the hours of a new location. */
const problems = (hours: Readonly<Record<string, unknown>>) => {
  const sent = { name: "a", identifier: "a", ...hours }
  const decoded = Schema.decodeUnknownResult(LocationCreate, { ...strict, errors: "all" })(sent)
  return decoded._tag === "Success"
    ? []
    : issuesOf(decoded.failure.issue, "body").map(({ code, path }) => `${path} ${code}`)
}

/** The special hours that are stored. */
const special = (specialHours: unknown) =>
  Schema.decodeUnknownSync(LocationCreate)({ name: "a", identifier: "a", specialHours }).specialHours

describe("opening hours of a location", () => {
  it("a status is one of three words, and a time zone has a name of the IANA in its own case", () => {
    assert.deepStrictEqual(
      ...compare(status.schema, [
        ...kept(["open", "temporarilyClosed", "permanentlyClosed"]),
        ...rejects(["closed", "OPEN", ""])
      ])
    )
    assert.deepStrictEqual(
      ...compare(timezone.schema, [
        ...kept(["Europe/Amsterdam", "America/Argentina/Buenos_Aires", "UTC", "CET", "Asia/Kolkata"]),
        ["europe/AMSTERDAM", "Europe/Amsterdam"],
        ["cet", "CET"],
        ["Utc", "UTC"],
        ...rejects(["Europe/Atlantis", "+01:00", "", "Europe", 1])
      ])
    )
  })

  it("abbreviations that the IANA does not have are no time zones in a request, in any case", () => {
    for (const zone of ["PST", "pst", "BST", "Ist", "CST", "JST"])
      assert.deepStrictEqual(problems({ timezone: zone }), ["timezone unknownTimeZone"], zone)
    for (const zone of ["CET", "EST", "GMT", "HST", "MET", "MST", "WET", "EET", "UTC", "PRC", "GB", "PST8PDT"])
      assert.deepStrictEqual(problems({ timezone: zone }), [], zone)
    // Locations can have them from earlier requests.
    assert.strictEqual(Schema.decodeUnknownSync(timezone.schema)("PST"), "PST")
  })

  it("hours are sorted by day and time, from 00:00 to 24:00, and at most 70", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        at(1 + Math.floor(index / 11), `${10 + (index % 11)}:00`, `${10 + (index % 11)}:30`)
      )
    assert.deepStrictEqual(
      ...compare(openingHours.schema, [
        ...kept([[], [at(1, "00:00", "24:00")], many(70)]),
        [
          [at(7, "09:00", "12:00"), at(1, "13:00", "17:00"), at(1, "09:00", "12:00")],
          [at(1, "09:00", "12:00"), at(1, "13:00", "17:00"), at(7, "09:00", "12:00")]
        ],
        ...rejects([
          many(71),
          [at(0, "09:00", "12:00")],
          [at(8, "09:00", "12:00")],
          [at(1.5, "09:00", "12:00")],
          [at(1, "24:00", "12:00")],
          [at(1, "9:00", "12:00")],
          [at(1, "09:00", "24:01")],
          [at(1, "09:00", "12:60")],
          [{ day: 1, opens: "09:00" }],
          null
        ])
      ])
    )
  })

  it("periods that follow each other do not overlap, also past midnight and from Sunday to Monday", () => {
    for (const openingHours of [
      [at(1, "09:00", "12:00"), at(1, "12:00", "17:00")],
      [at(1, "22:00", "06:00"), at(2, "06:00", "12:00")],
      [at(7, "22:00", "06:00"), at(1, "06:00", "12:00")],
      [1, 2, 3, 4, 5, 6, 7].map((day) => at(day, "09:00", "09:00")),
      [1, 2, 3, 4, 5, 6, 7].map((day) => at(day, "00:00", "24:00")),
      [1, 2, 3, 4, 5, 6, 7].map((day) => at(day, "00:00", "00:00"))
    ]) {
      assert.deepStrictEqual(problems({ openingHours }), [])
    }
  })

  it("a period that begins before another one ends is reported at its own place in the request", () => {
    const cases: ReadonlyArray<readonly [hours: ReadonlyArray<unknown>, ...places: ReadonlyArray<number>]> = [
      [[at(1, "09:00", "12:00"), at(1, "11:59", "17:00")], 1],
      [[at(1, "11:59", "17:00"), at(1, "09:00", "12:00")], 0],
      [[at(1, "09:00", "12:00"), at(1, "09:00", "12:00")], 1],
      [[at(2, "05:59", "12:00"), at(1, "22:00", "06:00")], 0],
      [[at(7, "22:00", "06:00"), at(1, "05:00", "12:00")], 1],
      [[at(1, "00:00", "24:00"), at(1, "10:00", "11:00"), at(1, "12:00", "13:00")], 1, 2],
      [[at(7, "09:00", "09:00"), at(1, "08:59", "10:00")], 1]
    ]
    for (const [openingHours, ...places] of cases) {
      assert.deepStrictEqual(
        problems({ openingHours }),
        places.map((place) => `openingHours.${place} overlap`),
        JSON.stringify(openingHours)
      )
    }
  })

  it("days with hours of their own are sorted, as are their periods, and have no empty members", () => {
    assert.deepStrictEqual(
      special([
        {
          date: "2026-12-31",
          periods: [
            { opens: "18:00", closes: "02:00" },
            { opens: "09:00", closes: "16:00" }
          ]
        },
        { date: "2026-12-25", label: null, periods: null },
        { date: "2026-01-01", label: " New Year " }
      ]),
      [
        { date: "2026-01-01", label: "New Year", periods: [] },
        { date: "2026-12-25", periods: [] },
        {
          date: "2026-12-31",
          periods: [
            { opens: "09:00", closes: "16:00" },
            { opens: "18:00", closes: "02:00" }
          ]
        }
      ]
    )
  })

  it("the problems of special days are reported at their own places", () => {
    const late = { opens: "20:00", closes: "04:00" }
    const cases: ReadonlyArray<readonly [days: ReadonlyArray<unknown>, ...problems: ReadonlyArray<string>]> = [
      [[{ date: "2026-02-29" }], "0.date invalidFormat"],
      [[{ date: "2026-2-01" }], "0.date invalidFormat"],
      [[{ date: "2026-02-01T00:00:00.000Z" }], "0.date invalidFormat"],
      [[{ periods: [] }], "0.date required"],
      [[{ date: "2026-01-02" }, { date: "2026-01-01" }, { date: "2026-01-02" }], "2.date notUnique"],
      [[{ date: "2026-01-01", label: "x".repeat(101) }], "0.label tooLong"],
      [[{ date: "2026-01-01", periods: [late, { opens: "23:00", closes: "23:30" }] }], "0.periods.1 overlap"],
      [
        [
          { date: "2026-01-01", periods: [{ opens: "03:00", closes: "05:00" }] },
          { date: "2025-12-31", periods: [late] }
        ],
        "0.periods.0 overlap"
      ],
      [
        [
          { date: "2026-01-01", periods: [{ opens: "04:00", closes: "05:00" }] },
          { date: "2025-12-31", periods: [late] }
        ]
      ],
      [
        [
          { date: "2026-01-02", periods: [{ opens: "03:00", closes: "05:00" }] },
          { date: "2025-12-31", periods: [late] }
        ]
      ]
    ]
    for (const [specialHours, ...expected] of cases) {
      assert.deepStrictEqual(
        problems({ specialHours }),
        expected.map((problem) => `specialHours.${problem}`),
        JSON.stringify(specialHours)
      )
    }
    const dates = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        date: new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10)
      }))
    assert.deepStrictEqual(problems({ specialHours: dates(400) }), [])
    assert.deepStrictEqual(problems({ specialHours: dates(401) }), ["specialHours tooMany"])
  })
})
