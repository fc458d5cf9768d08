import { assert, describe, it } from "@effect/vitest"
import { many, outcome, rejects, stores, uuid } from "./outcome.ts"

describe("the permissions module", () => {
  it("the permissions module grants access to no user by default", () =>
    assert.deepStrictEqual(outcome("permissions", {}), { authorizationType: "groups", groups: [], locations: [] }))

  it("the permissions module stores values within the bounds", () =>
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

  it("the permissions module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "permissions",
        {},
        [{ authorizationType: "none" }, "authorizationType notAllowed"],
        [{ groups: [{ uuid: uuid(1), actions: ["delete"] }] }, "groups.0.actions.0 notAllowed"],
        [{ groups: many(1001, (index) => ({ uuid: uuid(index) })) }, "groups tooMany"],
        [{ locations: many(10_001, (index) => ({ uuid: uuid(index) })) }, "locations tooMany"],
        [{ groups: many(2, () => ({ uuid: uuid(1) })) }, "groups.1.uuid duplicate"]
      )
    ))
})
