import { FindMyWay, HttpServerResponse, type HttpMethod } from "effect/http"
import { HttpApi } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { MethodNotAllowedError } from "../../domain/write/RequestErrors.ts"
import { toResponse } from "./Failures.ts"

/** A path beside the operations, and its method. */
export type OtherPath = readonly [method: HttpMethod.HttpMethod, path: string]

/** The methods of every path, those beside the operations included. */
const methodsOf = (others: ReadonlyArray<OtherPath>) => {
  const paths = new Map<string, Set<HttpMethod.HttpMethod>>(others.map(([method, path]) => [path, new Set([method])]))
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const known = paths.get(endpoint.path) ?? new Set()
      paths.set(endpoint.path, known.add(endpoint.method))
    }
  })
  return paths
}

/**
 * What a known path answers to a method it does not have, where the router would say that there is no such path: 405
 * with `Allow`, or 204 with `Allow` to OPTIONS. `undefined` when the path is not known either.
 */
export const make = (others: ReadonlyArray<OtherPath>, config: Partial<FindMyWay.RouterConfig>) => {
  const router = FindMyWay.make<ReadonlyArray<string>>(config)
  for (const [path, known] of methodsOf(others)) {
    router.on("GET", path as `/${string}`, [...known, ...(known.has("GET") ? ["HEAD"] : []), "OPTIONS"])
  }
  return (method: string, url: string): HttpServerResponse.HttpServerResponse | undefined => {
    const allowed = router.find("GET", url)?.handler
    if (allowed === undefined || allowed.includes(method) !== (method === "OPTIONS")) return undefined
    return method === "OPTIONS"
      ? HttpServerResponse.empty({ status: 204, headers: { allow: allowed.join(", ") } })
      : toResponse(new MethodNotAllowedError({ message: `This path takes ${allowed.join(", ")}`, allowed }))
  }
}
