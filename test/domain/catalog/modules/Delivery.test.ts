import { assert, describe, it } from "@effect/vitest"
import { many, outcome, rejects, stores, acceptsInt } from "./outcome.ts"

const method = (fields: object = {}) => ({ key: "standard", type: "shipping", ...fields })
const stored = (fields: object = {}) => ({ ...method(), translations: [], countries: [], active: true, ...fields })

describe("the delivery module", () => {
  it("the delivery module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("delivery", {}), {
      requiresShipping: true,
      methods: [],
      addressSources: ["address"],
      allowMultipleAddresses: false
    }))

  it("the delivery module stores values within the bounds", () => {
    const price = { amountMinor: 0, currency: "EUR" }
    assert.deepStrictEqual(
      ...stores(
        "delivery",
        {},
        [
          { methods: [method()], defaultMethod: "standard" },
          { methods: [stored()], defaultMethod: "standard" }
        ],
        [
          {
            methods: [
              method({ price, freeFrom: { amountMinor: 5000, currency: "eur" }, leadTimeDays: { min: 0, max: 365 } })
            ]
          },
          {
            methods: [
              stored({ price, freeFrom: { amountMinor: 5000, currency: "EUR" }, leadTimeDays: { min: 0, max: 365 } })
            ]
          }
        ],
        [
          {
            methods: [
              method({
                countries: ["nl", "BE", "NL"],
                translations: [
                  { locale: "nl_nl", name: "Thuis" },
                  { locale: "de", name: "Heim" }
                ]
              })
            ]
          },
          {
            methods: [
              stored({
                countries: ["NL", "BE"],
                translations: [
                  { locale: "de", name: "Heim" },
                  { locale: "nl-NL", name: "Thuis" }
                ]
              })
            ]
          }
        ],
        { addressSources: ["legal", "invoice", "custom"], allowMultipleAddresses: true, requiresShipping: false },
        { cutoffTime: "23:59", timezone: "Europe/Amsterdam" },
        { timezone: "UTC" },
        { timezone: "America/Argentina/Buenos_Aires" },
        { weightGrams: 0, lengthMm: 10_000_000 },
        [{ defaultMethod: null, weightGrams: null, timezone: null }, {}]
      )
    )
    for (const member of ["weightGrams", "lengthMm", "widthMm", "heightMm"]) {
      assert.deepStrictEqual(...acceptsInt("delivery", {}, member, [0, 10_000_000]))
    }
  })

  it("the delivery module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "delivery",
        {},
        [{ methods: many(21, (index) => method({ key: `${index}` })) }, "methods tooMany"],
        [{ methods: [method(), method()] }, "methods.1.key duplicate"],
        [{ methods: [method({ type: "drone" })] }, "methods.0.type notAllowed"],
        [{ methods: [{ type: "pickup" }] }, "methods.0.key required"],
        [{ methods: [method({ leadTimeDays: { min: 3, max: 2 } })] }, "methods.0.leadTimeDays notInOrder"],
        [{ methods: [method({ leadTimeDays: { min: 0, max: 366 } })] }, "methods.0.leadTimeDays.max outOfRange"],
        [{ methods: [method({ leadTimeDays: { min: 1 } })] }, "methods.0.leadTimeDays.max required"],
        [
          { methods: [method({ price: { amountMinor: 1.5, currency: "EUR" } })] },
          "methods.0.price.amountMinor wrongType"
        ],
        [
          { methods: [method({ price: { amountMinor: -1, currency: "EUR" } })] },
          "methods.0.price.amountMinor outOfRange"
        ],
        [
          { methods: [method({ price: { amountMinor: 1, currency: "DEM" } })] },
          "methods.0.price.currency unknownCurrency"
        ],
        [{ methods: [method({ countries: ["UK"] })] }, "methods.0.countries.0 unknownCountry"],
        [
          {
            methods: [
              method({
                translations: [
                  { locale: "nl", name: "a" },
                  { locale: "NL", name: "b" }
                ]
              })
            ]
          },
          "methods.0.translations.1.locale duplicate"
        ],
        [{ defaultMethod: "standard" }, "defaultMethod unknownKey"],
        [{ methods: [method({ active: false })], defaultMethod: "standard" }, "defaultMethod unknownKey"],
        [{ addressSources: ["home"] }, "addressSources.0 notAllowed"],
        [{ cutoffTime: "24:00" }, "cutoffTime invalidFormat"],
        [{ cutoffTime: "9:00" }, "cutoffTime invalidFormat"],
        [{ timezone: "Europe/Atlantis" }, "timezone unknownTimeZone"],
        [{ timezone: "PST" }, "timezone unknownTimeZone"],
        [{ timezone: "+01:00" }, "timezone invalidFormat"]
      )
    ))
})
