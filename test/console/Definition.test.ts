import { Predicate } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { operations } from "../../src/api/Operations.ts"
import { derive } from "../../src/console/definition/Derive.ts"
import { formsOf } from "../../src/console/definition/FormSchemas.ts"
import { documented, schemas } from "../../src/console/definition/OpenApiDocument.ts"

const { resources } = derive("0.0.0")
const { definitions, forms } = formsOf()

/** All objects in a value. */
const nodesIn = (value: unknown): ReadonlyArray<{ readonly [member: string]: unknown }> => {
  if (Array.isArray(value)) return value.flatMap(nodesIn)
  return Predicate.isObject(value) ? [value, ...Object.values(value).flatMap(nodesIn)] : []
}

const resolve = (schema: unknown): { readonly [member: string]: unknown } => {
  if (!Predicate.isObject(schema)) return {}
  const reference = schema["$ref"]
  return typeof reference === "string" ? resolve(schemas[reference.replace("#/components/schemas/", "")]) : schema
}

/** The members that records with a schema can have. */
const membersOf = (schema: unknown): ReadonlyArray<string> => {
  const { oneOf, properties } = resolve(schema)
  return Array.isArray(oneOf) ? oneOf.flatMap(membersOf) : Object.keys(properties ?? {})
}

/** Members of forms that a read does not answer. */
const unread: Readonly<Record<string, ReadonlyArray<string>>> = {
  // Another file for the asset; without it the asset keeps its file.
  assets: ["fileUuid"],
  // The form begins with it as `state` says.
  webhooks: ["active"]
}

describe("what the console takes from the definition", () => {
  it("the console has every resource whose records can be listed and read, and every value that a filter can name as a column", () => {
    const lists = operations().filter(({ resource, verb }) => verb === "list" && resource !== "events")
    assert.deepStrictEqual(
      resources.map(({ name }) => name),
      lists.map(({ resource }) => resource)
    )
    const others = lists.flatMap(({ filterable, resource, values }) => {
      const { columns } = resources.find(({ name }) => name === resource)!
      assert.isAbove(columns.length, 5)
      assert.sameMembers(
        columns.map(({ path }) => path),
        [...filterable]
      )
      return values.filter(({ path }) => !filterable.includes(path)).map(({ segments: [member] }) => member!)
    })
    // What belongs to other records is answered only with them.
    assert.sameMembers(
      [...new Set(others)],
      ["users", "userCount", "locations", "locationCount", "groups", "groupCount", "variants", "distanceMetres"]
    )
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

  it("the console has a form for every operation that creates or changes a record, and for every module", () => {
    for (const resource of resources) {
      const { create, update } = resource.actions
      for (const action of [create, update, ...resource.modules.map((module) => module.update)]) {
        if (action !== undefined) assert.property(forms, `${action.group}.${action.name}`)
      }
    }
    assert.lengthOf(resources.find(({ name }) => name === "products")!.modules, 16)
  })

  it("the console has no member in the form of a record that the read before it does not answer", () => {
    for (const { actions, included, name } of resources) {
      if (actions.update === undefined) continue
      const { group } = actions.update
      const get = operations().find(({ resource, verb }) => resource === name && verb === "get")!
      const { node } = documented.find((operation) => operation.group === group && operation.name === "get")!
      // oxlint-disable-next-line typescript/no-explicit-any -- an assertion reports a missing member
      const answer = (node["responses"] as any)["200"].content["application/json"].schema
      // oxlint-disable-next-line typescript/no-explicit-any -- an assertion reports a missing member
      const answered = membersOf((resolve(answer)["properties"] as any).data)
      const read = answered.filter((member) => !get.included.includes(member) || included.includes(member))
      assert.isAbove(read.length, 2)
      const form = Object.keys(forms[`${group}.update`]!["properties"] as object)
      assert.isAbove(form.length, 2)
      assert.deepStrictEqual(
        form.filter((member) => !read.includes(member)),
        unread[name] ?? [],
        name
      )
    }
  })

  it("asks for the members of an asset that are answered only on request, and for no records that belong to a record", () => {
    const { included } = operations().find(({ resource, verb }) => resource === "assets" && verb === "list")!
    assert.includeMembers([...included], ["categories", "width", "mimeType", "processing", "validFrom", "focalPoint"])
    assert.deepStrictEqual(
      resources
        .filter((resource) => resource.included.length > 0)
        .map((resource) => [resource.name, resource.included]),
      [["assets", included]]
    )
  })

  it("the console has no position of the elements of a list, whose order in a form is theirs", () => {
    const elements = nodesIn([forms, definitions]).flatMap(({ items }) => (Predicate.isObject(items) ? [items] : []))
    assert.isAbove(elements.length, 100)
    for (const { properties } of elements) assert.notProperty(properties ?? {}, "position")
  })

  it("asks in no form for the name of another record, which only keys that may read the record are answered", () => {
    const named = (roots: unknown) =>
      nodesIn(roots).filter(({ description }) => /^For keys with `?read:/.test(String(description)))
    assert.isAbove(named(schemas).length, 10)
    assert.deepStrictEqual(named([forms, definitions]), [])
  })

  it("the console has no reference in a form that leads nowhere, no null and no member that only the service writes", () => {
    const nodes = nodesIn([forms, definitions])
    assert.isAbove(nodes.length, 500)
    for (const node of nodes) {
      if (typeof node["$ref"] === "string") assert.property(definitions, node["$ref"].replace("#/$defs/", ""))
      assert.notStrictEqual(node["type"], "null")
      assert.notStrictEqual(node["readOnly"], true)
    }
  })
})
