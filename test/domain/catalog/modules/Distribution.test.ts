import { assert, describe, it } from "@effect/vitest"
import { many, outcome, rejects, stores, acceptsInt, uuid } from "./outcome.ts"

describe("the distribution module", () => {
  it("the distribution module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("distribution", {}), { channels: [], allocationMode: "none", allocations: [] }))

  it("the distribution module stores values within the bounds", () => {
    const channel = { active: true, formats: [], approvalRequired: false }
    assert.deepStrictEqual(
      ...stores(
        "distribution",
        {},
        [{ channels: [{ channel: "print" }] }, { channels: [{ channel: "print", ...channel }] }],
        [
          {
            channels: [{ channel: "email", formats: ["pdf", "pdf"], supplier: { name: "a", email: "a@example.com" } }]
          },
          {
            channels: [
              { channel: "email", ...channel, formats: ["pdf"], supplier: { name: "a", email: "a@example.com" } }
            ]
          }
        ],
        { allocationMode: "perLocation", quantityPerLocation: 1 },
        { allocationMode: "explicit", allocations: [{ locationUuid: uuid(1), quantity: 1_000_000 }] },
        {
          allocationMode: "explicit",
          allocations: many(10_000, (index) => ({ locationUuid: uuid(index), quantity: 1 }))
        }
      )
    )
    assert.deepStrictEqual(
      ...acceptsInt("distribution", { allocationMode: "perLocation" }, "quantityPerLocation", [1, 1_000_000])
    )
  })

  it("the distribution module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "distribution",
        {},
        [{ channels: [{ channel: "print" }, { channel: "print" }] }, "channels.1.channel duplicate"],
        [{ channels: [{ channel: "fax" }] }, "channels.0.channel notAllowed"],
        [{ channels: [{ channel: "print", formats: ["doc"] }] }, "channels.0.formats.0 notAllowed"],
        [{ channels: [{ channel: "print", supplier: { email: "a@b.nl" } }] }, "channels.0.supplier.name required"],
        [{ allocationMode: "perLocation" }, "quantityPerLocation required"],
        [{ allocations: [{ locationUuid: uuid(1), quantity: 1 }] }, "allocations notAllowed"],
        [
          { allocationMode: "explicit", allocations: many(2, () => ({ locationUuid: uuid(1), quantity: 1 })) },
          "allocations.1.locationUuid duplicate"
        ],
        [
          { allocationMode: "explicit", allocations: [{ locationUuid: uuid(1), quantity: 0 }] },
          "allocations.0.quantity outOfRange"
        ],
        [
          {
            allocationMode: "explicit",
            allocations: many(10_001, (index) => ({ locationUuid: uuid(index), quantity: 1 }))
          },
          "allocations tooMany"
        ]
      )
    ))
})
