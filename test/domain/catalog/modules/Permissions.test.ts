import { assert, describe, it } from "@effect/vitest"
import { many, outcome, refuses, stores, uuid } from "./outcome.ts"

describe("the permissions module", () => {
  it("is for nobody unless told otherwise", () =>
    assert.deepStrictEqual(outcome("permissions", {}), { authorizationType: "groups", groups: [], locations: [] }))

  it("stores what is within the bounds", () =>
    assert.deepStrictEqual(
      ...stores(
        "permissions",
        {},
        { authorizationType: "everyone" },
        [{ groups: [{ uuid: uuid(1) }] }, { groups: [{ uuid: uuid(1), actions: [] }] }],
        [
          {
            authorizationType: "locations",
            locations: [{ uuid: uuid(1), name: "a", actions: ["view", "order", "view"] }]
          },
          { authorizationType: "locations", locations: [{ uuid: uuid(1), actions: ["view", "order"] }] }
        ],
        { groups: many(1000, (index) => ({ uuid: uuid(index), actions: [] })) }
      )
    ))

  it("refuses what is not", () =>
    assert.deepStrictEqual(
      ...refuses(
        "permissions",
        {},
        [{ authorizationType: "nobody" }, "authorizationType notAllowed"],
        [{ groups: [{ uuid: uuid(1), actions: ["delete"] }] }, "groups.0.actions.0 notAllowed"],
        [{ groups: many(1001, (index) => ({ uuid: uuid(index) })) }, "groups tooMany"],
        [{ locations: many(10_001, (index) => ({ uuid: uuid(index) })) }, "locations tooMany"],
        [{ groups: many(2, () => ({ uuid: uuid(1) })) }, "groups.1.uuid duplicate"]
      )
    ))
})
