import { assert, describe, it } from "@effect/vitest"
import { type Schema, SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../src/api/Api.ts"
import { ModuleName } from "../../src/domain/catalog/ModuleName.ts"
import { ProductType } from "../../src/domain/catalog/Product.ts"
import { modules } from "../../src/domain/catalog/ProductModule.ts"
import { committed, document, operations } from "./Derived.ts"

/** Everything that a schema consists of, with its encoded side. */
const partsOf = (root: SchemaAST.AST, parts = new Set<SchemaAST.AST>()): ReadonlySet<SchemaAST.AST> => {
  if (parts.has(root)) return parts
  parts.add(root)
  for (const { to } of root.encoding ?? []) partsOf(to, parts)
  if (SchemaAST.isObjects(root)) {
    for (const { type } of [...root.propertySignatures, ...root.indexSignatures]) partsOf(type, parts)
  }
  if (SchemaAST.isArrays(root)) for (const part of [...root.elements, ...root.rest]) partsOf(part, parts)
  if (SchemaAST.isUnion(root)) for (const part of root.types) partsOf(part, parts)
  if (SchemaAST.isSuspend(root)) partsOf(root.thunk(), parts)
  return parts
}

/** The schemas of what clients send and get. */
const schemas = () => {
  const all: Array<Schema.Top> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { params, payload, query }, errors, successes }) => {
      if (params !== undefined) all.push(params)
      if (query !== undefined) all.push(query)
      for (const { schemas } of payload.values()) all.push(...schemas)
      for (const schemas of [...successes.values(), ...errors.values()]) all.push(...schemas)
    }
  })
  return all
}

describe("descriptions", () => {
  it("every description that a schema of the definition declares is in the document", () => {
    const parts = new Set<SchemaAST.AST>()
    for (const { ast } of schemas()) partsOf(ast, parts)
    const declared = new Set(
      [...parts].flatMap((part) => [
        SchemaAST.resolve(part)?.["description"],
        part.context?.annotations?.["description"]
      ])
    )
    declared.delete(undefined)
    assert.isAbove(declared.size, 250)
    const document = new Set<string>()
    JSON.parse(JSON.stringify(committed), (name, value: unknown) => {
      if (name === "description" && typeof value === "string") document.add(value)
      return value
    })
    const text = [...document].join("\n")
    assert.deepStrictEqual(
      [...declared].filter((description) => !text.includes(String(description))),
      []
    )
  })

  it("the operations on a module say which types of products have it, and whether a variant inherits it", () => {
    const description = (method: string, name: string) =>
      document.paths[`/v1/products/{uuid}/modules/${name}`]![method]!.description!
    for (const name of ModuleName.literals) {
      const { origins } = modules[name]
      const [read, remove] = [description("get", name), description("delete", name)]
      assert.strictEqual(/of its parent/.test(read), /parent/i.test(origins.variant), name)
      assert.strictEqual(/of its parent/.test(remove), origins.variant === "ownOrParent", name)
      const lacks = ProductType.literals.filter((type) => origins[type] === "none")
      assert.strictEqual(read.includes("Only products of type"), lacks.length > 0, name)
      for (const type of lacks) assert.notInclude(read, `\`${type}\``, name)
      for (const type of ProductType.literals) {
        if (!origins[type].startsWith("own")) assert.notInclude(remove, `\`${type}\``, name)
        else if (remove.includes("Only")) assert.include(remove, `\`${type}\``, name)
      }
    }
    assert.deepStrictEqual(
      ["locations", "stock"].map((name) => [description("get", name), description("delete", name)]),
      [
        [
          "The module of the product; a variant has that of its parent.",
          "Deactivates the module. Only products of type `default` and `variantParent` have their own."
        ],
        [
          "The module of the product. Only products of type `default` and `variant` have it.",
          "Deactivates the module. Only products of type `default` and `variant` have their own."
        ]
      ]
    )
  })

  it("no parameter but the uuid of a path has a description that only repeats its name", () => {
    const repeating = operations.flatMap(({ name, operation }) =>
      operation.parameters
        .filter((parameter) => /^The \w+ of the record\.$/.test(parameter.description!) && parameter.name !== "uuid")
        .map((parameter) => `${name} ${parameter.name}`)
    )
    assert.deepStrictEqual(repeating, [])
  })
})
