import { Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { commonErrors, RouteNotFoundError } from "../domain/write/RequestErrors.ts"
import { ApiKeysApi } from "./ApiKeys.ts"
import { AssetCategoriesApi } from "./AssetCategories.ts"
import { AssetsApi } from "./Assets.ts"
import { Authorization } from "./Authorization.ts"
import { ErrorBoundary } from "./ErrorBoundary.ts"
import { GroupsApi } from "./Groups.ts"
import { LocationsApi } from "./Locations.ts"
import { MetaTagsApi } from "./MetaTags.ts"
import { complete } from "./openapi/Document.ts"
import { PostsApi } from "./Posts.ts"
import { ProductsApi } from "./catalog/Products.ts"
import { ReservationsApi } from "./catalog/Reservations.ts"
import { UploadsApi } from "./Uploads.ts"
import { UsersApi } from "./Users.ts"

/** What any operation can answer and none lists, as `405 MethodNotAllowedError`. */
const common = commonErrors
  .filter((error) => error !== RouteNotFoundError)
  .map((error) => `\`${Schema.resolveAnnotations(error)?.["httpApiStatus"]} ${error.fields._tag.schema.literal}\``)

const description = `Content and location management for a brand with many branches.

Every operation needs an API key in the \`Authorization\` header; \`x-required-permissions\` lists the permissions it needs.
A success is \`{ "_tag": "Success", "data": … }\`, an error \`{ "_tag": "…Error", "message": …, "requestId": … }\`.

In addition to the responses it lists, any operation can answer ${common.join(", ")}.
A read with \`If-None-Match\` answers 304 while the record is unchanged.`

const strict = { onExcessProperty: "error", reportInput: true } as const

/** The contract: its groups, their middleware, and how strictly requests are decoded. */
const definition = HttpApi.make("waypost")
  .add(
    UsersApi,
    ProductsApi,
    ReservationsApi,
    LocationsApi,
    GroupsApi,
    UploadsApi,
    AssetsApi,
    PostsApi,
    AssetCategoriesApi,
    MetaTagsApi,
    ApiKeysApi
  )
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

/** The OpenAPI document of the API. */
export const openApi = () => OpenApi.fromApi(Api)
