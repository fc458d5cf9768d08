import { Context, Effect, Layer, Scope } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Authorization } from "../../api/Authorization.ts"
import { ErrorBoundary } from "../../api/ErrorBoundary.ts"

type Guards = Authorization | ErrorBoundary | Scope.Scope

/**
 * `HttpApiBuilder.group`, for handlers that ask for their services when they are built. It merges the services it was
 * built among into the context of every request; here these are only the two that guard the endpoints, and not everything
 * there is, which would have to be copied for each request.
 */
export const group: typeof HttpApiBuilder.group = (api, name, build) =>
  Layer.effectContext(
    Effect.contextWith((services: Context.Context<Guards>) => {
      const built = HttpApiBuilder.group(api, name, (handlers) => withServices(build(handlers), services))
      const guards = Context.pick(Authorization, ErrorBoundary, Scope.Scope)(services)
      return Effect.updateContext(Layer.build(built), () => guards as never)
    })
  ) as never

/** The types of the library hide that what builds handlers is an effect like any other. */
const withServices = <A>(build: A, services: Context.Context<Guards>): A =>
  Effect.provideContext(build as Effect.Effect<never>, services) as A
