import { Schema, SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/api/Api.ts"
import { filterable } from "../../../src/domain/query/FilterFields.ts"

/** A list with a filter. */
interface Filterable {
  /** The method of the promise client: `locations.list`. */
  readonly method: string
  /** Which argument of the method is the query. */
  readonly position: number
  /** What the filter can name: fields, and the objects and lists that they are in. */
  readonly paths: ReadonlyArray<string>
  /** The lists whose elements the filter names by a key. */
  readonly keyed: ReadonlyArray<string>
}

const filterOf = (query: Schema.Top | undefined) => {
  const ast = query === undefined ? undefined : SchemaAST.toEncoded(query.ast)
  if (ast === undefined || !SchemaAST.isObjects(ast)) return undefined
  const filter = ast.propertySignatures.find(({ name }) => name === "filter")
  return filter === undefined ? undefined : Schema.resolveAnnotations(Schema.make(filter.type))
}

/** A path, and the objects and lists that it is in. */
const withParents = (path: string) => {
  const segments = path.split(".")
  return segments.map((_, index) => segments.slice(0, index + 1).join("."))
}

/** The lists of the definition whose filter has the fields of one record. */
export const lists = () => {
  const found: Array<Filterable> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => {
      const annotations = filterOf(endpoint.query)
      const fields = annotations?.[filterable]
      if (!Array.isArray(fields)) return
      found.push({
        method: `${group.identifier}.${endpoint.identifier}`,
        position: endpoint.path.split("/:").length - 1,
        paths: [...new Set(fields.map(String).flatMap(withParents))],
        keyed: Array.from(String(annotations?.description).matchAll(/In `(\w+)\.<key>`/g), ([, list]) => list!)
      })
    }
  })
  return found
}
