import { readFileSync } from "node:fs"

/** An answer a reader of openapi.json expects: a status, and the `_tag` of its body. */
export interface Documented {
  readonly status: number
  readonly tag: string
}

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly hasBody: boolean
  readonly readsQuery: boolean
  readonly permissions: ReadonlyArray<string>
  readonly answers: ReadonlyArray<Documented>
}

interface JsonSchema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly properties?: { readonly _tag?: { readonly enum?: ReadonlyArray<string> } }
}

interface Path {
  readonly operationId: string
  readonly "x-required-permissions": ReadonlyArray<string>
  readonly parameters: ReadonlyArray<{ readonly in: string }>
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, { schema: JsonSchema }>> }>>
}

const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Path>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const tagsOf = ({ $ref, anyOf, properties }: JsonSchema): ReadonlyArray<string> => {
  if ($ref !== undefined) return tagsOf(document.components.schemas[$ref.slice($ref.lastIndexOf("/") + 1)]!)
  return anyOf?.flatMap(tagsOf) ?? properties?._tag?.enum ?? []
}

/** Every operation, with every answer that is documented with it. */
export const operations: ReadonlyArray<Operation> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters, requestBody, responses, ...rest }]) => ({
    id: operationId,
    method: method.toUpperCase(),
    path,
    hasBody: requestBody !== undefined,
    readsQuery: parameters.some((parameter) => parameter.in === "query"),
    permissions: rest["x-required-permissions"],
    answers: Object.entries(responses).flatMap(([status, { content }]) =>
      Object.values(content).flatMap(({ schema }) => tagsOf(schema).map((tag) => ({ status: Number(status), tag })))
    )
  }))
)

/** What the document says once that any operation can answer. */
export const common: ReadonlyArray<Documented> = [...document.info.description.matchAll(/`(\d{3}) (\w+Error)`/g)].map(
  ([, status, tag]) => ({ status: Number(status), tag: tag! })
)
