import { assert, describe, it } from "@effect/vitest"
import { many, outcome, rejects, stores, acceptsInt } from "./outcome.ts"

const hours = (from: string, until: string, weekday = 1) => ({ weekday, from, until })
const day = (number: number) => `2026-01-${String(number).padStart(2, "0")}T00:00:00.000Z`

describe("the reservations module", () => {
  it("the reservations module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("reservations", {}), {
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
    }))

  it("the reservations module stores values within the bounds", () => {
    assert.deepStrictEqual(
      ...stores(
        "reservations",
        {},
        { unit: "hour", minDuration: 3, maxDuration: 3, leadTime: 365 },
        // 30 days ahead.
        { unit: "hour", maxAdvance: 720 },
        { availability: [hours("00:00", "23:59", 1), hours("09:00", "12:00", 7), hours("13:00", "17:00", 7)] },
        { blackouts: many(200, () => ({ from: day(1), until: day(2), reason: "Closed" })) },
        { maxPerLocation: 1, approvalRequired: true, holdExpiresAfterMinutes: 44_640 },
        [{ maxDuration: null, upcoming: [] }, {}]
      )
    )
    for (const member of ["leadTime", "maxAdvance", "bufferBefore", "bufferAfter"]) {
      assert.deepStrictEqual(...acceptsInt("reservations", { maxAdvance: 8784 }, member, [0, 8784]))
    }
    for (const member of ["minDuration", "maxDuration"])
      assert.deepStrictEqual(...acceptsInt("reservations", {}, member, [1, 366]))
    assert.deepStrictEqual(...acceptsInt("reservations", {}, "holdExpiresAfterMinutes", [1, 44_640]))
    assert.deepStrictEqual(...acceptsInt("reservations", {}, "quantity", [1, 1_000_000]))
  })

  it("the reservations module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "reservations",
        {},
        [{ unit: "month" }, "unit notAllowed"],
        [{ minDuration: 3, maxDuration: 2 }, "maxDuration notInOrder"],
        [{ leadTime: 3, maxAdvance: 2 }, "maxAdvance notInOrder"],
        [{ availability: [hours("12:00", "12:00")] }, "availability.0.until notInOrder"],
        [{ availability: [hours("09:00", "12:00", 8)] }, "availability.0.weekday outOfRange"],
        [{ availability: [hours("9", "12:00")] }, "availability.0.from invalidFormat"],
        [{ blackouts: [{ from: day(2), until: day(1) }] }, "blackouts.0.until notInOrder"],
        [{ blackouts: many(201, () => ({ from: day(1), until: day(2) })) }, "blackouts tooMany"]
      )
    ))
})
