import { Context, Effect, Layer } from "effect"
import type { HttpMethod } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { type Limits, RouteLimits } from "../../api/Limits.ts"
import { TimeLimits } from "./Timeout.ts"

/** A route of the service. One that is not in the contract declares itself as such a value. */
export interface Route {
  readonly method: HttpMethod.HttpMethod
  readonly path: string
  readonly limits?: Partial<Limits>
}

/** Every route with its limits, for the steps ahead of the router. */
export class RouteTable extends Context.Service<
  RouteTable,
  {
    readonly routes: ReadonlyArray<Route>
    /** The limits of the route of a method at a URL. */
    readonly limitsOf: (method: string, url: string) => Limits
    /** Whether a path belongs to the contract. */
    readonly isOperation: (path: string) => boolean
  }
>()("waypost/http/transport/RouteTable") {
  /** The endpoints of a contract, and the routes that are not in it. */
  static readonly layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
    api: HttpApi.HttpApi<Id, Groups>,
    others: ReadonlyArray<Route>
  ) =>
    Layer.effect(
      RouteTable,
      Effect.map(TimeLimits, ({ answer: answerMillis }) => {
        const operations = routesOf(api)
        const routes = [...operations, ...others]
        const paths = new Set<string>(operations.map(({ path }) => path))
        const limitsOf = lookupIn(routes, {
          answerMillis,
          afterBodyMillis: undefined,
          hasSlowBody: false,
          inFlight: "requests",
          maxBodyBytes: undefined,
          share: undefined
        })
        return { routes, limitsOf, isOperation: (path) => paths.has(path) }
      })
    )
}

const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Route> => {
  const routes: Array<Route> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { annotations, method, path } }) => {
      const limits = Context.getOrUndefined(annotations, RouteLimits)
      routes.push({ method, path, ...(limits === undefined ? {} : { limits }) })
    }
  })
  return routes
}

/** Whether a method is that of a route, or is answered for it. */
const isOf = (method: string, route: string) =>
  method === route || method === "OPTIONS" || (method === "HEAD" && route === "GET")

/** Matches what follows the begin of a path; the router ignores a slash at the end. */
const restOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/?]+")}/?(?:\\?|$)`)

/** Compares only the routes that have limits of their own, because this runs for every request. */
const lookupIn = (routes: ReadonlyArray<Route>, defaultLimits: Limits) => {
  const special = routes.flatMap(({ limits, method, path }) => {
    const [prefix = path] = path.split(":")
    if (limits === undefined) return []
    const rest = restOf(path.slice(prefix.length))
    return [{ route: method, prefix, rest, limits: { ...defaultLimits, ...limits } }]
  })
  return (method: string, url: string): Limits => {
    for (const { limits, prefix, rest, route } of special) {
      const isAt = url.startsWith(prefix) && rest.test(url.slice(prefix.length))
      if (isAt && isOf(method, route)) return limits
    }
    return defaultLimits
  }
}
