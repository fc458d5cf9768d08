import { Context, Effect, Layer, Scope } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Authorization } from "../../api/Authorization.ts"
import { ErrorBoundary } from "../../api/ErrorBoundary.ts"
import { SafeWrites } from "../../api/writes/SafeWrites.ts"

type Guards = Authorization | ErrorBoundary | SafeWrites | Scope.Scope

/**
 * `HttpApiBuilder.group`, for handlers that take their services when they are built. The library merges the context in
 * which a group is built into the context of every request; here that is only the middlewares of the endpoints,
 * because every service would be copied for each request.
 */
export const group: typeof HttpApiBuilder.group = (api, name, build) =>
  Layer.effectContext(
    Effect.contextWith((services: Context.Context<Guards>) => {
      const built = HttpApiBuilder.group(api, name, (handlers) => withServices(build(handlers), services))
      const guards = Context.pick(Authorization, ErrorBoundary, SafeWrites, Scope.Scope)(services)
      return Effect.updateContext(Layer.build(built), () => guards as never)
    })
  ) as never

/** The types of the library hide that the builder of handlers is an effect. */
const withServices = <A>(build: A, services: Context.Context<Guards>): A =>
  Effect.provideContext(build as Effect.Effect<never>, services) as A
