import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Days from "../../src/console/data/Days.ts"
import * as Filters from "../../src/console/data/Filters.ts"
import { isTimestamp } from "../../src/domain/schema/Fields.ts"

const zone = process.env["TZ"]

// In Beirut, some days begin at 1:00.
describe.each(["America/New_York", "Asia/Beirut", "Pacific/Auckland", "UTC"])("filters by days in %s", (name) => {
  beforeAll(() => {
    process.env["TZ"] = name
    assert.strictEqual(new Intl.DateTimeFormat().resolvedOptions().timeZone, name)
  })

  afterAll(() => {
    if (zone === undefined) delete process.env["TZ"]
    else process.env["TZ"] = zone
  })

  const days = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-25", "2026-11-01", "2026-12-31"]
  /** Whose begin or end is no time of the service in some time zones. */
  const outer = ["0001-01-01", "9999-12-31"]

  /** As the address has them. */
  const kept = (conditions: ReadonlyArray<Filters.Condition>) => Filters.read(Filters.print(conditions))

  it("hold for the times of the day from its first to its last millisecond", () => {
    for (const day of days) {
      const [from, until] = Days.conditionsOn("createdAt", "equals", day)
      const [begin, end] = [new Date(from!.values[0]!), new Date(until!.values[0]!)]
      assert.deepStrictEqual([from!.operator, until!.operator], ["gte", "lte"])
      const isOn = (time: Date) => time.toDateString() === new Date(`${day}T12:00:00`).toDateString()
      assert.isTrue(isOn(begin) && isOn(end), day)
      assert.isFalse(isOn(new Date(begin.getTime() - 1)) || isOn(new Date(end.getTime() + 1)), day)
      for (const [operator, bound] of [
        ["gt", until],
        ["gte", from],
        ["lt", from],
        ["lte", until]
      ] as const) {
        assert.deepStrictEqual(Days.conditionsOn("createdAt", operator, day), [{ ...bound!, operator }])
      }
    }
  })

  it("filters by days have times that the service knows, of any day", () => {
    for (const day of [...days, ...outer]) {
      for (const { values } of Days.conditionsOn("createdAt", "equals", day))
        assert.isTrue(isTimestamp(values[0]!), day)
    }
  })

  it("filters by days are shown with the day and the operator that were chosen", () => {
    for (const day of [...days, ...outer]) {
      for (const operator of ["equals", "gt", "gte", "lt", "lte"]) {
        const conditions = kept(Days.conditionsOn("createdAt", operator, day))
        const [shown, ...others] = Days.shownOf(conditions, () => true)
        assert.deepStrictEqual(others, [])
        assert.deepInclude(shown, { field: "createdAt", operator, day, parts: conditions })
      }
    }
  })

  it("filters by days are shown alone where they do not hold for one whole day, and where the value is no time", () => {
    const conditions = [
      ...Days.conditionsOn("createdAt", "gte", "2026-03-29"),
      ...Days.conditionsOn("createdAt", "lte", "2026-03-30"),
      ...Days.conditionsOn("editedAt", "lte", "2026-03-30"),
      { field: "editedAt", operator: "gt", values: ["2026-03-29T09:30:00.000Z"] },
      { field: "editedAt", operator: "equals", values: ["2026-03-29"] },
      { field: "editedAt", operator: "gte", values: ["NaN-NaN-NaN"] }
    ]
    const shown = Days.shownOf(conditions, () => true)
    assert.deepStrictEqual(
      shown.map(({ day, operator }) => [operator, day]),
      [
        ["gte", "2026-03-29"],
        ["lte", "2026-03-30"],
        ["lte", "2026-03-30"],
        ["gt", undefined],
        ["equals", undefined],
        ["gte", undefined]
      ]
    )
    const texts = Days.shownOf(Days.conditionsOn("name", "equals", "2026-03-29"), () => false)
    assert.deepStrictEqual(
      texts.map(({ day }) => day),
      [undefined, undefined]
    )
  })
})
