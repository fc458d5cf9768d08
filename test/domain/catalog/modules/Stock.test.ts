import { assert, describe, it } from "@effect/vitest"
import { availableOf } from "../../../../src/domain/catalog/modules/Stock.ts"
import { many, outcome, rejects, stores, acceptsInt } from "./outcome.ts"

const billion = 1_000_000_000
const level = (warehouse: string, onHand = 0, reserved = 0, incoming = 0) => ({ warehouse, onHand, reserved, incoming })

describe("the stock module", () => {
  it("the stock module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("stock", {}), {
      mode: "none",
      onHand: 0,
      reserved: 0,
      incoming: 0,
      allowBackorder: false,
      notifyEmails: [],
      levels: []
    }))

  it("the stock module stores values within the bounds", () => {
    assert.deepStrictEqual(
      ...stores(
        "stock",
        {},
        { mode: "reserveOnCart", onHand: 5, reserved: 7, incoming: billion },
        { allowBackorder: true, onHand: -billion },
        { minOrderQuantity: 10, maxOrderQuantity: 10, orderMultiple: 5 },
        { notifyEmails: many(10, (index) => `a${index}@example.com`), restockAt: "2026-12-01T00:00:00.000Z" },
        { onHand: 3, reserved: 1, incoming: 2, levels: [level("a", 1, 1, 0), level("b", 2, 0, 2)] },
        { allowBackorder: true, onHand: -1, levels: [level("a", -3), level("b", 2)] },
        [{ levels: [{ warehouse: "a" }], available: 3 }, { levels: [level("a")] }],
        { levels: many(100, (index) => level(`${index}`)) }
      )
    )
    assert.deepStrictEqual(...acceptsInt("stock", { allowBackorder: true }, "onHand", [-billion, billion]))
    for (const member of ["reserved", "incoming", "reorderPoint", "safetyStock"]) {
      assert.deepStrictEqual(...acceptsInt("stock", {}, member, [0, billion]))
    }
    for (const member of ["minOrderQuantity", "maxOrderQuantity", "orderMultiple"])
      assert.deepStrictEqual(...acceptsInt("stock", {}, member, [1, billion]))
    assert.deepStrictEqual(...acceptsInt("stock", {}, "reservationExpiresAfterMinutes", [1, 44_640]))
  })

  it("the stock module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "stock",
        {},
        [{ mode: "some" }, "mode notAllowed"],
        [{ onHand: -1 }, "onHand outOfRange"],
        [{ levels: [level("a", -1), level("b", 1)] }, "levels.0.onHand outOfRange"],
        [{ minOrderQuantity: 3, maxOrderQuantity: 2 }, "maxOrderQuantity notInOrder"],
        [
          { minOrderQuantity: 3, maxOrderQuantity: 7, orderMultiple: 2 },
          "minOrderQuantity notMultiple",
          "maxOrderQuantity notMultiple"
        ],
        [{ levels: [level("a", 1, 1, 1)] }, "onHand notTheSum", "reserved notTheSum", "incoming notTheSum"],
        [{ levels: [level("a"), level("a")] }, "levels.1.warehouse duplicate"],
        [{ levels: many(101, (index) => level(`${index}`)) }, "levels tooMany"],
        [{ notifyEmails: many(11, (index) => `a${index}@example.com`) }, "notifyEmails tooMany"],
        [{ notifyEmails: ["a"] }, "notifyEmails.0 invalidFormat"]
      )
    ))

  it("available stock is onHand minus reserved", () => {
    assert.strictEqual(availableOf({ onHand: 5, reserved: 2 }), 3)
    assert.strictEqual(availableOf({ onHand: -5, reserved: 2 }), -7)
  })
})
