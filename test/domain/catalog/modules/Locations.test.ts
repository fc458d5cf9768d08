import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../../../../src/domain/schema/Json.ts"
import { moduleOf } from "../../../../src/domain/catalog/ProductModule.ts"
import { resolve } from "../../../../src/domain/write/References.ts"
import { many, outcome, rejects, stores, uuid } from "./outcome.ts"

describe("the locations module", () => {
  it("the locations module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("locations", {}), {
      mode: "all",
      locations: [],
      groups: [],
      locationRequired: true,
      multipleLocations: false
    }))

  it("the locations module stores values within the bounds, and only the uuid of locations and groups", () => {
    const named = { uuid: uuid(1), name: "Utrecht", identifier: "UTR" }
    assert.deepStrictEqual(
      ...stores(
        "locations",
        {},
        { mode: "exclude", locationRequired: false, multipleLocations: true },
        { mode: "include", locations: many(10_000, (index) => ({ uuid: uuid(index) })) },
        [
          { locations: [named], groups: [{ uuid: uuid(2), name: "North" }], resolvedCount: 7 },
          { locations: [{ uuid: uuid(1) }], groups: [{ uuid: uuid(2) }] }
        ]
      )
    )
  })

  it("the locations module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "locations",
        {},
        [{ mode: "some" }, "mode notAllowed"],
        [{ locations: ["a"] }, "locations.0 wrongType"],
        [{ locations: [{ uuid: "a" }] }, "locations.0.uuid invalidFormat"],
        [{ locations: many(2, () => ({ uuid: uuid(1) })) }, "locations.1.uuid duplicate"],
        [{ groups: many(2, () => ({ uuid: uuid(1) })) }, "groups.1.uuid duplicate"],
        [{ locations: many(10_001, (index) => ({ uuid: uuid(index) })) }, "locations tooMany"],
        [{ groups: many(10_001, (index) => ({ uuid: uuid(index) })) }, "groups tooMany"]
      )
    ))

  it("the locations module returns existing locations with their visible members", () => {
    const settings = outcome("locations", { locations: many(2, (index) => ({ uuid: uuid(index) })) })
    const lookup = (_: string, id: string) => (id === uuid(1) ? { name: "Utrecht" } : undefined)
    assert.deepInclude(resolve(moduleOf("locations"), settings as Json, lookup) as object, {
      locations: [{ uuid: uuid(1), name: "Utrecht" }]
    })
  })
})
