import { Schema, SchemaAST } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { descriptions } from "../ListQuery.ts"
import { requestHeaders } from "./Headers.ts"
import { flatten, type JsonSchema } from "./JsonSchema.ts"
import { type Parameter, pascal, type Placed, shared } from "./Operation.ts"

/** The schema of a decoded parameter, unless it is text. */
const decodedSchema = (ast: SchemaAST.AST): JsonSchema | undefined => {
  const schema: JsonSchema = Schema.toJsonSchemaDocument(Schema.make(SchemaAST.toType(ast))).schema
  const { type } = schema
  return type === "integer" || type === "number" || type === "boolean" || "enum" in schema ? flatten(schema) : undefined
}

const known: Readonly<Record<string, string>> = { uuid: "The uuid of the record.", ...descriptions }

/**
 * The parameters of an operation. A query parameter is text on the wire and is derived as text; it gets its decoded
 * schema, such as an integer from 1 to 500 for `limit`. A parameter without a description throws.
 */
export const parametersOf = (placed: Placed, endpoint: HttpApiEndpoint.Top): ReadonlyArray<Parameter> => {
  const ast = endpoint.query?.ast
  const properties = ast !== undefined && SchemaAST.isObjects(ast) ? ast.propertySignatures : []
  const decoded = new Map(properties.map(({ name, type }) => [String(name), decodedSchema(type)]))
  return [
    ...placed.operation.parameters.map(({ schema: derived, ...parameter }) => {
      const { name } = parameter
      const { description, ...schema } = (parameter.in === "query" && decoded.get(name)) || derived
      const own = derived["description"] ?? description ?? known[name]
      if (typeof own !== "string") throw new Error(`${placed.operation.operationId}: ${name} has no description`)
      return { ...parameter, description: own, schema }
    }),
    ...requestHeaders(placed, endpoint)
  ]
}

/** The parameters that several operations have, by name, and the operations with references to them. */
export const sharedParameters = (operations: ReadonlyArray<Placed>) => {
  const values = operations.flatMap(({ operation }) =>
    operation.parameters.map((parameter) => [operation.operationId, parameter] as const)
  )
  return shared("parameters", values, ({ holders, value: { name } }) => {
    const list = holders.find((holder) => holder.endsWith(".list")) ?? holders[0] ?? ""
    return [pascal(name), pascal(`${list.split(".")[0]}-${name}`)]
  })
}
