import { SchemaAST } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { isRepeatedWithKey } from "../../../src/api/writes/SafeWrites.ts"
import { Api } from "../../../src/api/Api.ts"

const queryOf = ({ query }: HttpApiEndpoint.Top) => {
  if (query === undefined) return ""
  const isPaged = SchemaAST.isObjects(query.ast) && query.ast.propertySignatures.some(({ name }) => name === "page")
  return isPaged ? " pages" : " query"
}

/** How the definition has each operation requested, as the promise client does it, which has no streams. */
export const routes = () => {
  const groups: Record<string, Record<string, string>> = {}
  HttpApi.reflect(Api, {
    onGroup: ({ group }) => {
      groups[group.identifier] = {}
    },
    onEndpoint: ({ endpoint, group }) => {
      if ([...endpoint.success].some((schema) => "mode" in schema && schema.mode === "sse")) return
      const path = endpoint.path.replace(/\/$/, "")
      const body = endpoint.payload.size > 0 ? " body" : ""
      const repeatable = isRepeatedWithKey(endpoint) ? " repeatable" : ""
      groups[group.identifier]![endpoint.identifier] =
        `${endpoint.method} ${path}${body}${queryOf(endpoint)}${repeatable}`
    }
  })
  return groups
}
