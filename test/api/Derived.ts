import { readFileSync } from "node:fs"
import { openApi } from "../../src/api/Api.ts"
import { partsOf } from "../../src/api/openapi/JsonSchema.ts"
import { dereferenced } from "../support/contract/Dereferenced.ts"
import type { JsonSchema } from "./JsonSchema.ts"

interface Media {
  readonly schema: JsonSchema
  readonly example?: unknown
}

interface Body {
  readonly content?: Readonly<Record<string, Media>>
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description?: string
    readonly schema: JsonSchema
  }>
  readonly requestBody?: Body & { readonly required: boolean }
  readonly responses: Readonly<Record<string, Body & { readonly headers?: object }>>
  readonly [extension: `x-${string}`]: unknown
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, { readonly description: string } & Operation["responses"][string]>>
  }
}

export const committed: unknown = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8"))
export const derived: unknown = JSON.parse(JSON.stringify(openApi()))
export const document = dereferenced(derived) as Document
export const { schemas } = document.components
export const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, method, path, operation }))
)
/** The successes and errors that an operation lists; `default` is for the errors that any operation can answer with. */
export const statusesOf = (method: string, path: string) =>
  Object.keys(document.paths[path]![method]!.responses).filter((status) => status !== "304" && status !== "default")

/** Every JSON body the document describes. */
export const media = operations.flatMap(({ name, operation }) => [
  ...Object.entries(operation.requestBody?.content ?? {}).map(([type, body]) => ({
    at: `${name} request`,
    type,
    body
  })),
  ...Object.entries(operation.responses).flatMap(([status, { content }]) =>
    Object.entries(content ?? {}).map(([type, body]) => ({ at: `${name} ${status}`, type, body }))
  )
])

export const bodiesOf = (body: Body | undefined) => Object.values(body?.content ?? {}).map(({ schema }) => schema)

/** The schemas within a schema, and those that it references, except those of read-only members. */
export const reached = (root: JsonSchema): ReadonlyArray<JsonSchema> => {
  const found = new Set<JsonSchema>()
  const visit = (schema: JsonSchema): void => {
    if (found.has(schema) || schema["readOnly"] === true) return
    found.add(schema)
    const { $ref } = schema
    if (typeof $ref === "string") visit(schemas[$ref.slice($ref.lastIndexOf("/") + 1)]!)
    partsOf(schema).forEach(visit)
  }
  visit(root)
  return [...found]
}

/** Every schema of a body, with the component or the operation that has it. */
export const everySchema = [
  ...Object.entries(schemas).map(([at, schema]) => ({ at, schema })),
  ...media.map(({ at, body: { schema } }) => ({ at, schema }))
].flatMap(({ at, schema: root }) => {
  const within = (schema: JsonSchema): ReadonlyArray<JsonSchema> => [schema, ...partsOf(schema).flatMap(within)]
  return within(root).map((schema) => ({ at, schema }))
})
