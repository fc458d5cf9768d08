import { Function, Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import type { HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import { referencesKey } from "../domain/write/Markers.ts"
import { strict } from "../domain/write/Issues.ts"
import { commonErrors, RouteNotFoundError } from "../domain/write/RequestErrors.ts"
import { AccessApi } from "./access/Access.ts"
import { ApiKeysApi } from "./ApiKeys.ts"
import { AssetCategoriesApi } from "./assets/AssetCategories.ts"
import { AssetsApi } from "./assets/Assets.ts"
import { Authorization } from "./Authorization.ts"
import { EventsApi } from "./changes/Events.ts"
import { ErrorBoundary } from "./ErrorBoundary.ts"
import { GroupsApi } from "./Groups.ts"
import { LocationsApi } from "./Locations.ts"
import { MetaTagsApi } from "./assets/MetaTags.ts"
import { complete } from "./openapi/Document.ts"
import { PlansApi } from "./writes/Plans.ts"
import { PostsApi } from "./Posts.ts"
import { ProductsApi } from "./catalog/Products.ts"
import { QualityApi } from "./quality/Quality.ts"
import { ReservationsApi } from "./catalog/Reservations.ts"
import { SafeWrites } from "./writes/SafeWrites.ts"
import { UploadsApi } from "./assets/Uploads.ts"
import { UsagesApi } from "./access/Usages.ts"
import { UsersApi } from "./Users.ts"
import { WebhooksApi } from "./changes/Webhooks.ts"

/** What any operation can answer and none lists, as `405 MethodNotAllowedError`. */
const common = commonErrors
  .filter((error) => error !== RouteNotFoundError)
  .map((error) => `\`${Schema.resolveAnnotations(error)?.["httpApiStatus"]} ${error.fields._tag.schema.literal}\``)

const description = `Content and location management for a brand with many branches.

Every operation needs an API key in the \`Authorization\` header. \`x-required-permissions\` lists the permissions that all
of its requests need; descriptions name those that depend on the request, such as those of a bulk request or a plan.
A success is \`{ "_tag": "Success", "data": … }\`, an error \`{ "_tag": "…Error", "message": …, "requestId": … }\`.

In addition to the statuses it lists, any operation can answer ${common.join(", ")}:
the response \`default\` of each. A read with \`If-None-Match\` answers 304 while the record is unchanged.

Requests are closed: a member or a parameter that the service does not know is an error. Responses are open: later
releases of \`/v1\` may add members, and words to enumerations that say so. Members that are \`readOnly\` are ignored in
requests, whatever their value, so that a client can send back what it read; only \`createdAt\` and \`editedAt\` of a location
must be timestamps or null.

A request can have an id in the header \`X-Request-Id\`; every response has it, and every error as \`requestId\`.`

const groups = [
  LocationsApi,
  UsersApi,
  GroupsApi,
  AssetsApi,
  UploadsApi,
  AssetCategoriesApi,
  MetaTagsApi,
  ProductsApi,
  ReservationsApi,
  PostsApi,
  UsagesApi,
  QualityApi,
  AccessApi,
  EventsApi,
  WebhooksApi,
  PlansApi,
  ApiKeysApi
] as const

type Guarded<Middleware extends HttpApiMiddleware.AnyId, Group> = HttpApiGroup.AddMiddleware<Group, Middleware>

/** The groups with the middleware of every operation. It has a name because declarations cannot write it out. */
export type Groups = Guarded<Authorization, Guarded<ErrorBoundary, Guarded<SafeWrites, (typeof groups)[number]>>>

/** The contract: its groups, their middleware, and how strictly requests are decoded. */
const definition: HttpApi.HttpApi<"waypost", Groups> = HttpApi.make("waypost")
  .add(...groups)
  .middleware(SafeWrites)
  .middleware(ErrorBoundary)
  .middleware(Authorization)
  .annotate(HttpApi.ParamsParseOptions, { reportInput: true })
  .annotate(HttpApi.QueryParseOptions, { ...strict, errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, strict)
  .annotateMerge(
    OpenApi.annotations({
      title: "Waypost",
      version: "1.0.0",
      summary: "Content and location management service",
      description,
      license: { name: "MIT", identifier: "MIT" }
    })
  )

export class Api extends definition.annotate(OpenApi.Transform, (document) => complete(definition, document)) {}

/** Made once for a process, which takes half a second. */
const documentOf = Function.memoize((api: typeof Api) =>
  OpenApi.fromApi(api, { includeAnnotationKey: (key) => key === referencesKey })
)

/** The OpenAPI document of the API; with the URL of the service that serves it, if it has one. */
export const openApi = (url?: string) => {
  const document = documentOf(Api)
  return url === undefined ? document : { ...document, servers: [{ url }] }
}
