import { assert, describe, it } from "@effect/vitest"
import { moduleOf } from "../../../../src/domain/catalog/ProductModule.ts"
import { many, outcome, refuses, stores, uuid } from "./outcome.ts"

describe("the locations module", () => {
  it("has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("locations", {}), {
      mode: "all",
      locations: [],
      groups: [],
      locationRequired: true,
      multipleLocations: false
    }))

  it("stores what is within the bounds, and of locations and groups only which", () => {
    const told = { uuid: uuid(1), name: "Utrecht", identifier: "UTR" }
    assert.deepStrictEqual(
      ...stores(
        "locations",
        {},
        { mode: "exclude", locationRequired: false, multipleLocations: true },
        { mode: "include", locations: many(10_000, (index) => ({ uuid: uuid(index) })) },
        [
          { locations: [told], groups: [{ uuid: uuid(2), name: "North" }], resolvedCount: 7 },
          { locations: [{ uuid: uuid(1) }], groups: [{ uuid: uuid(2) }] }
        ]
      )
    )
  })

  it("refuses what is not", () =>
    assert.deepStrictEqual(
      ...refuses(
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

  it("tells what there is, with as much of it as may be told", () => {
    const settings = outcome("locations", { locations: many(2, (index) => ({ uuid: uuid(index) })) })
    const look = (_: string, id: string) => (id === uuid(1) ? { name: "Utrecht" } : undefined)
    assert.deepInclude(moduleOf("locations").resolve(settings, look) as object, {
      locations: [{ uuid: uuid(1), name: "Utrecht" }]
    })
  })
})
