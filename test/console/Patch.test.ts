import { assert, describe, it } from "@effect/vitest"
import { patchOf } from "../../src/console/form/Patch.ts"

describe("what a form of the console sends", () => {
  it("a list that stays empty is not changed, whatever rows were added to it and removed", () => {
    for (const begun of [{}, { postalCodes: [] }]) {
      for (const postalCodes of [undefined, [], [undefined], [{ from: "", to: undefined }]]) {
        assert.deepStrictEqual(patchOf({ ...begun, name: "De Vries" }, { name: "De Vries", postalCodes }), {})
      }
    }
    assert.deepStrictEqual(patchOf({}, { postalCodes: [undefined, "3511"] }), { postalCodes: ["3511"] })
    const audience = { authorizationType: "groups", groups: [{}], locations: [] }
    assert.deepStrictEqual(patchOf({}, { audience }), { audience: { authorizationType: "groups" } })
  })

  it("a list that had elements is emptied when all of them are removed", () => {
    for (const postalCodes of [[], [undefined]]) {
      assert.deepStrictEqual(patchOf({ postalCodes: ["3511"] }, { postalCodes }), { postalCodes: [] })
    }
  })
})
