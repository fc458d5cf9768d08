import { assert, describe, it } from "@effect/vitest"
import { type Schema, SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../src/api/Api.ts"
import { committed, operations } from "./Derived.ts"

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

  it("no parameter but the uuid of a path has a description that only repeats its name", () => {
    const repeating = operations.flatMap(({ name, operation }) =>
      operation.parameters
        .filter((parameter) => /^The \w+ of the record\.$/.test(parameter.description!) && parameter.name !== "uuid")
        .map((parameter) => `${name} ${parameter.name}`)
    )
    assert.deepStrictEqual(repeating, [])
  })
})
