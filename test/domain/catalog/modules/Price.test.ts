import { assert, describe, it } from "@effect/vitest"
import { many, outcome, rejects, stores, acceptsInt, uuid } from "./outcome.ts"

const tier = (minimumQuantity: number, amountMinor = 1) => ({ minimumQuantity, amountMinor })
const override = (fields: object = {}) => ({ scope: "location", uuid: uuid(1), amountMinor: 5, ...fields })
const day = (number: number) => `2026-01-${String(number).padStart(2, "0")}T00:00:00.000Z`
const during = (from: number, until: number) => override({ validFrom: day(from), validUntil: day(until) })

describe("the price module", () => {
  it("the price module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("price", {}), {
      model: "free",
      currency: "EUR",
      unit: "piece",
      unitQuantity: 1,
      taxIncluded: false,
      tiers: [],
      overrides: [],
      costCenterRequired: false
    }))

  it("the price module stores values within the bounds", () => {
    const stored = (fields: object) => ({ overrides: [{ ...override(), tiers: [], ...fields }] })
    assert.deepStrictEqual(
      ...stores(
        "price",
        {},
        { model: "fixed", amountMinor: 0 },
        { model: "tiered", amountMinor: 100, tiers: [tier(2), tier(3, 0), tier(1_000_000_000)] },
        { tiers: many(50, (index) => tier(index + 2)) },
        [{ currency: " usd " }, { currency: "USD" }],
        { taxRatePercent: 0 },
        { taxRatePercent: 99.99 },
        { taxRatePercent: 100 },
        [{ overrides: [override()] }, stored({})],
        [
          { overrides: [override({ tiers: [tier(2)], validUntil: day(2) })] },
          stored({ tiers: [tier(2)], validUntil: day(2) })
        ],
        { validFrom: day(1), validUntil: day(2) },
        [
          { overrides: [during(1, 2), during(2, 3), override({ scope: "group" }), override({ uuid: uuid(2) })] },
          {
            overrides: [during(1, 2), during(2, 3), override({ scope: "group" }), override({ uuid: uuid(2) })].map(
              (one) => ({ ...one, tiers: [] })
            )
          }
        ]
      )
    )
    assert.deepStrictEqual(...acceptsInt("price", {}, "amountMinor", [0, 1_000_000_000_000]))
    assert.deepStrictEqual(
      ...acceptsInt("price", {}, "minimumQuantity", [2, 1_000_000_000], (minimumQuantity) => ({
        tiers: [{ minimumQuantity, amountMinor: 1 }]
      }))
    )
  })

  it("the price module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "price",
        {},
        [{ model: "fixed" }, "amountMinor required"],
        [{ model: "tiered" }, "amountMinor required"],
        [{ currency: "XXX" }, "currency unknownCurrency"],
        [{ currency: null }, "currency wrongType"],
        [{ taxRatePercent: 100.01 }, "taxRatePercent outOfRange"],
        [{ taxRatePercent: 0.001 }, "taxRatePercent tooPrecise"],
        [{ tiers: [tier(3), tier(3)] }, "tiers.1.minimumQuantity notInOrder"],
        [{ tiers: many(51, (index) => tier(index + 2)) }, "tiers tooMany"],
        [{ validFrom: day(2), validUntil: day(2) }, "validUntil notInOrder"],
        [{ overrides: [during(2, 1)] }, "overrides.0.validUntil notInOrder"],
        [{ overrides: [override({ tiers: [tier(3), tier(2)] })] }, "overrides.0.tiers.1.minimumQuantity notInOrder"],
        [{ overrides: [override(), override()] }, "overrides.1 overlap"],
        [{ overrides: [override(), during(1, 2)] }, "overrides.1 overlap"],
        [{ overrides: [during(1, 5), during(5, 8), during(2, 3)] }, "overrides.2 overlap"],
        [{ overrides: [override({ scope: "user" })] }, "overrides.0.scope notAllowed"],
        [{ overrides: many(1001, (index) => override({ uuid: uuid(index) })) }, "overrides tooMany"]
      )
    ))
})
