import { assert, describe, it } from "@effect/vitest"
import { abbreviate, rename } from "../../../src/cli/transfer/ModuleNames.ts"
import { ModuleName } from "../../../src/domain/catalog/ModuleName.ts"
import { complete } from "../../../src/domain/write/Completion.ts"
import { moduleOf } from "../../../src/domain/catalog/ProductModule.ts"
import { referencesIn } from "../../../src/domain/write/References.ts"
import { parent, poster } from "./ProductRows.ts"

const settingsOf: Partial<Record<ModuleName, unknown>> = { ...poster.modules, ...parent.modules }
const fill = { uuid: () => "made", now: "2026-01-01T00:00:00.000Z", locale: "nl" }

describe("names in product modules", () => {
  it("names are supported wherever a module references a user, a location or a group", () => {
    for (const name of ModuleName.literals) {
      const module = moduleOf(name)
      const named = new Set<string>()
      const settings = rename(module, settingsOf[name], (kind, reference) => {
        named.add(`${kind} ${reference}`)
        return reference
      })
      const found = referencesIn(module, complete(module, settings, fill).settings)
      const references = [...found].flatMap(([kind, ids]) => [...ids].map((id) => `${kind} ${id}`))
      assert.includeMembers(
        [...named],
        references.filter((reference) => /^(?:users|locations|groups|products) /.test(reference)),
        name
      )
    }
  })

  it("an element with only a reference can be abbreviated to its name, and is abbreviated in exports", () => {
    const permissions = { groups: ["North", { uuid: "South", actions: ["view"] }], locations: [] }
    const whole = { groups: [{ uuid: "north" }, { uuid: "south", actions: ["view"] }], locations: [] }
    const renamed = rename(moduleOf("permissions"), permissions, (_, name) => name.toLowerCase())
    assert.deepStrictEqual(renamed, whole)
    assert.deepStrictEqual(abbreviate(moduleOf("permissions"), whole), { ...whole, groups: ["north", whole.groups[1]] })
  })

  it("values of another shape stay unchanged, so that the schema rejects them", () => {
    const never = () => assert.fail("no name is expected")
    for (const settings of ["text", { groups: "North" }, { groups: [3, null, { uuid: 3 }] }, { steps: [{}] }, []]) {
      assert.deepStrictEqual(rename(moduleOf("permissions"), settings, never), settings)
      assert.deepStrictEqual(rename(moduleOf("workflow"), settings, never), settings)
    }
    const role = { steps: [{ approvers: { type: "role", role: "ROLE_MANAGER", uuids: ["x"] } }] }
    assert.deepStrictEqual(rename(moduleOf("workflow"), role, never), role)
  })
})
