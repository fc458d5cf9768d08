import { document, type JsonSchema, type Operation, operations, resolved } from "../support/contract/Documented.ts"

/** Every dotted path of a schema. */
const pathsOf = (schema: JsonSchema, at = ""): ReadonlyArray<string> => {
  const { anyOf, items, oneOf, properties } = resolved(schema)
  return [
    ...(at === "" ? [] : [at]),
    ...[...(anyOf ?? []), ...(oneOf ?? [])].flatMap((schema) => pathsOf(schema, at)),
    ...(items === undefined ? [] : pathsOf(items, at)),
    ...Object.entries(properties ?? {}).flatMap(([name, schema]) => pathsOf(schema, at === "" ? name : `${at}.${name}`))
  ]
}

/** An operation that returns a list, the paths of its records in lower case, and its sort fields. */
export interface List {
  readonly operation: Operation
  readonly answered: ReadonlySet<string>
  readonly sortable: ReadonlyArray<string>
}

/** Every filterable list of the document. */
export const lists: ReadonlyArray<List> = operations.flatMap((operation) => {
  const { parameters, responses } = document.paths[operation.path]![operation.method.toLowerCase()]!
  const sortBy = parameters.find(({ name }) => name === "sortBy")
  if (sortBy === undefined || !parameters.some(({ name }) => name === "filter")) return []
  // A parameter of the request can decide which of several records a list has.
  const page = resolved(responses["200"]!.content!["application/json"]!.schema)
  const records = (page.anyOf ?? [page]).map((page) => resolved(page).properties!["data"]!)
  const answered = new Set(records.flatMap((record) => pathsOf(record)).map((path) => path.toLowerCase()))
  return [{ operation, answered, sortable: sortBy.schema.enum! }]
})
