import { FindMyWay, HttpServerResponse } from "effect/http"
import { MethodNotAllowedError } from "../../domain/write/RequestErrors.ts"
import { toResponse } from "./Failures.ts"
import type { Route } from "./RouteTable.ts"

/**
 * The response of a known path to a method it does not have, for which the router would fail as for an unknown path: 405
 * with `Allow`, or 204 with `Allow` to OPTIONS. `undefined` when the path is unknown too.
 */
export const make = (routes: ReadonlyArray<Route>, config: Partial<FindMyWay.RouterConfig>) => {
  const router = FindMyWay.make<ReadonlyArray<string>>(config)
  for (const [path, known] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = new Set<string>(known.map(({ method }) => method))
    router.on("GET", `/${path.slice(1)}`, [...methods, ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"])
  }
  return (method: string, url: string): HttpServerResponse.HttpServerResponse | undefined => {
    const allowed = router.find("GET", url)?.handler
    if (allowed === undefined || allowed.includes(method) !== (method === "OPTIONS")) return undefined
    return method === "OPTIONS"
      ? HttpServerResponse.empty({ status: 204, headers: { allow: allowed.join(", ") } })
      : toResponse(new MethodNotAllowedError({ message: `This path takes ${allowed.join(", ")}`, allowed }))
  }
}
