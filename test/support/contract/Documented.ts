import { readFileSync } from "node:fs"
import { dereferenced } from "./Dereferenced.ts"

/** A response documented in openapi.json: a status and the `_tag` of its body. */
export interface Documented {
  readonly status: number
  readonly tag: string
}

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly description: string
  readonly hasBody: boolean
  readonly readsQuery: boolean
  readonly permissions: ReadonlyArray<string>
  readonly answers: ReadonlyArray<Documented>
}

/** The used members of a schema; a reference has `$ref` only. */
export interface JsonSchema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly enum?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
}

interface Path {
  readonly operationId: string
  readonly description: string
  readonly "x-required-permissions": ReadonlyArray<string>
  readonly parameters: ReadonlyArray<{ readonly in: string; readonly name: string; readonly schema: JsonSchema }>
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>> }>
  >
}

/** The committed openapi.json, with its references to parameters, responses and headers replaced by what they name. */
export const document = dereferenced(
  JSON.parse(readFileSync(new URL("../../../openapi.json", import.meta.url), "utf8"))
) as {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Path>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/** The schema, or the one that it references. */
export const resolved = (schema: JsonSchema): JsonSchema =>
  schema.$ref === undefined
    ? schema
    : resolved(document.components.schemas[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)]!)

const tagsOf = (schema: JsonSchema): ReadonlyArray<string> => {
  const { anyOf, oneOf, properties } = resolved(schema)
  return (oneOf ?? anyOf)?.flatMap(tagsOf) ?? properties?.["_tag"]?.enum ?? []
}

/** Every operation with its documented responses. */
export const operations: ReadonlyArray<Operation> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, { description, operationId, parameters, requestBody, responses, ...rest }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      description,
      hasBody: requestBody !== undefined,
      readsQuery: parameters.some((parameter) => parameter.in === "query"),
      permissions: rest["x-required-permissions"],
      answers: Object.entries(responses).flatMap(([status, { content }]) =>
        // The response `default` has the common errors.
        Object.values(status === "default" ? {} : (content ?? {})).flatMap(({ schema }) =>
          tagsOf(schema).map((tag) => ({ status: Number(status), tag }))
        )
      )
    })
  )
)

/** The errors that the description of the document declares for every operation. */
export const common: ReadonlyArray<Documented> = [...document.info.description.matchAll(/`(\d{3}) (\w+Error)`/g)].map(
  ([, status, tag]) => ({ status: Number(status), tag: tag! })
)
