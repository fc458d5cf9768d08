import { assert, describe, it } from "@effect/vitest"
import { operations } from "../../src/api/Operations.ts"
import { derive } from "../../src/console/definition/Derive.ts"
import { formsOf } from "../../src/console/definition/FormSchemas.ts"
import { isNode } from "../../src/console/definition/OpenApiDocument.ts"

const { resources } = derive("0.0.0")
const { definitions, forms } = formsOf()

/** All objects in a value. */
const nodesIn = (value: unknown): ReadonlyArray<{ readonly [member: string]: unknown }> => {
  if (Array.isArray(value)) return value.flatMap(nodesIn)
  return isNode(value) ? [value, ...Object.values(value).flatMap(nodesIn)] : []
}

describe("what the console takes from the definition", () => {
  it("has every resource whose records can be listed and read, and every value of them as a column", () => {
    const lists = operations().filter(({ resource, verb }) => verb === "list" && resource !== "events")
    assert.deepStrictEqual(
      resources.map(({ name }) => name),
      lists.map(({ resource }) => resource)
    )
    for (const { resource, values } of lists) {
      const { columns, relations } = resources.find(({ name }) => name === resource)!
      const included = new Set(relations.map((relation) => relation.resource))
      const own = values.filter(({ segments }) => !included.has(segments[0]!)).map(({ path }) => path)
      assert.deepStrictEqual(
        columns.map(({ path }) => path),
        own
      )
    }
  })

  it("shows columns that exist, and sorts by one of them", () => {
    for (const { columns, name, shown, sortBy } of resources) {
      const paths = new Set(columns.map(({ path }) => path))
      assert.isAbove(shown.length, 2, name)
      for (const path of shown) assert.isTrue(paths.has(path.replace(".0.", ".")), `${name} ${path}`)
      assert.isTrue(
        columns.some(({ isSortable, path }) => isSortable && path === sortBy),
        `${name} ${sortBy}`
      )
    }
  })

  it("names the permissions of every operation on a resource but bulk, whose operations have their own", () => {
    const without = resources.flatMap(({ actions, modules, relations }) =>
      [
        ...Object.values({ ...actions, bulk: undefined }),
        ...modules.flatMap(({ get, remove, update }) => [get, remove, update]),
        ...relations.flatMap(({ list, replace }) => [list, replace])
      ].filter((action) => action?.permissions.length === 0)
    )
    assert.deepStrictEqual(without, [])
  })

  it("has a form for every operation that creates or changes a record, and for every module", () => {
    for (const resource of resources) {
      const { create, update } = resource.actions
      for (const action of [create, update, ...resource.modules.map((module) => module.update)]) {
        if (action !== undefined) assert.property(forms, `${action.group}.${action.name}`)
      }
    }
    assert.lengthOf(resources.find(({ name }) => name === "products")!.modules, 16)
  })

  it("has no reference in a form that leads nowhere, no null and no member that only the service writes", () => {
    const nodes = nodesIn([forms, definitions])
    assert.isAbove(nodes.length, 500)
    for (const node of nodes) {
      if (typeof node["$ref"] === "string") assert.property(definitions, node["$ref"].replace("#/$defs/", ""))
      assert.notStrictEqual(node["type"], "null")
      assert.notStrictEqual(node["readOnly"], true)
    }
  })
})
