import { readFileSync } from "node:fs"
import { type Operation, operations } from "../conformance/Documented.ts"

interface JsonSchema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
}

interface Documented {
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly schema: { readonly enum?: ReadonlyArray<string> }
  }>
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> }>
  >
}

const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/** Every dotted path of a document. */
const pathsOf = ({ $ref, anyOf, items, properties }: JsonSchema, at = ""): ReadonlyArray<string> => {
  if ($ref !== undefined) return pathsOf(document.components.schemas[$ref.slice($ref.lastIndexOf("/") + 1)]!, at)
  return [
    ...(at === "" ? [] : [at]),
    ...(anyOf ?? []).flatMap((schema) => pathsOf(schema, at)),
    ...(items === undefined ? [] : pathsOf(items, at)),
    ...Object.entries(properties ?? {}).flatMap(([name, schema]) => pathsOf(schema, at === "" ? name : `${at}.${name}`))
  ]
}

/** An operation that answers with a list, what its records may tell, in lower case, and what they are sorted by. */
export interface List {
  readonly operation: Operation
  readonly answered: ReadonlySet<string>
  readonly sortable: ReadonlyArray<string>
}

/** Every list of the document that can be filtered. */
export const lists: ReadonlyArray<List> = operations.flatMap((operation) => {
  const { parameters, responses } = document.paths[operation.path]![operation.method.toLowerCase()]!
  const sortBy = parameters.find(({ name }) => name === "sortBy")
  if (sortBy === undefined || !parameters.some(({ name }) => name === "filter")) return []
  const record = responses["200"]!.content["application/json"]!.schema.properties!["data"]!
  const answered = new Set(pathsOf(record).map((path) => path.toLowerCase()))
  return [{ operation, answered, sortable: sortBy.schema.enum! }]
})
