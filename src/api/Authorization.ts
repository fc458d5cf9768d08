import { Array as Arr, Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { type CallingKey, MissingPermissionsError, UnauthorizedError } from "../domain/keys/ApiKey.ts"
import type { Annotatable } from "./Annotations.ts"
import type { Permission } from "../domain/keys/Permission.ts"
import { RateLimitExceededError } from "../domain/write/RequestErrors.ts"

/** The key that makes the request. */
export class CurrentApiKey extends Context.Service<CurrentApiKey, CallingKey>()(
  "waypost/api/Authorization/CurrentApiKey"
) {}

/** The permissions that an endpoint requires of a key. An endpoint without this annotation rejects every key. */
export class RequiredPermissions extends Context.Service<RequiredPermissions, ReadonlyArray<Permission>>()(
  "waypost/api/Authorization/RequiredPermissions"
) {}

/**
 * Declares the permissions of an endpoint, for the middleware and for the OpenAPI document. `requires()` requires a valid
 * key only.
 */
export const requires =
  (...permissions: ReadonlyArray<Permission>) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(
      Context.add(RequiredPermissions.context(permissions), OpenApi.Transform, (operation) => ({
        ...operation,
        responses: permissions.length > 0 ? operation["responses"] : withoutForbidden(operation["responses"]),
        "x-required-permissions": permissions
      }))
    )

/** The permissions of which an endpoint requires at least one. */
export class AlternativePermissions extends Context.Service<AlternativePermissions, ReadonlyArray<Permission>>()(
  "waypost/api/Authorization/AlternativePermissions"
) {}

/**
 * Declares that a key needs one of some permissions; which ones depends on the body. Several resources can have the same
 * permission, which an error lists once.
 */
export const requiresSome =
  (...permissions: ReadonlyArray<Permission>) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(
      Context.make(RequiredPermissions, []).pipe(
        Context.add(AlternativePermissions, Arr.dedupe(permissions)),
        Context.add(OpenApi.Transform, (operation) => ({ ...operation, "x-required-permissions": [] }))
      )
    )

/** Declares that a key needs one of some permissions besides those of the endpoint; which ones depends on the query. */
export const requiresAlsoSome =
  (...permissions: ReadonlyArray<Permission>) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(AlternativePermissions.context(permissions))

/** An endpoint that needs no permission never answers 403. */
const withoutForbidden = (responses: Readonly<Record<string, unknown>>) => {
  const { 403: _, ...others } = responses
  return others
}

/** Every endpoint needs an API key in the `Authorization` header, with or without a `Bearer` or `ApiKey` scheme. */
export class Authorization extends HttpApiMiddleware.Service<
  Authorization,
  {
    provides: CurrentApiKey
    requires: never
  }
>()("waypost/api/Authorization", {
  requiredForClient: true,
  security: { apiKey: HttpApiSecurity.apiKey({ key: "authorization", in: "header" }) },
  error: [UnauthorizedError, MissingPermissionsError, RateLimitExceededError]
}) {}
