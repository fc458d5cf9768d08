import { Context } from "effect"
import { type HttpApiEndpoint, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { type CallingKey, MissingPermissionsError, UnauthorizedError } from "../domain/keys/ApiKey.ts"
import type { Permission } from "../domain/keys/Permission.ts"
import { RateLimitExceededError } from "../domain/write/RequestErrors.ts"

/** The key that makes the request. */
export class CurrentApiKey extends Context.Service<CurrentApiKey, CallingKey>()(
  "waypost/api/Authorization/CurrentApiKey"
) {}

/** What an endpoint asks of a key. An endpoint without this annotation is closed to everyone. */
export class RequiredPermissions extends Context.Service<RequiredPermissions, ReadonlyArray<Permission>>()(
  "waypost/api/Authorization/RequiredPermissions"
) {}

/**
 * Declares the permissions of an endpoint, for the middleware and for the OpenAPI document. `requires()` asks for a
 * valid key and nothing more.
 */
export const requires =
  (...permissions: ReadonlyArray<Permission>) =>
  <Endpoint extends HttpApiEndpoint.Constraint>(endpoint: Endpoint): Endpoint => {
    const annotated = endpoint as unknown as HttpApiEndpoint.Top
    return annotated.annotate(RequiredPermissions, permissions).annotate(OpenApi.Transform, (operation) => ({
      ...operation,
      responses: permissions.length > 0 ? operation["responses"] : withoutForbidden(operation["responses"]),
      "x-required-permissions": permissions
    })) as never
  }

/** What asks for no permission is refused to no key. */
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
