import { HttpApi, OpenApi } from "effect/http-api"
import { TransportError } from "../domain/RequestErrors.ts"
import { ApiKeysApi } from "./ApiKeys.ts"
import { AssetCategoriesApi } from "./AssetCategories.ts"
import { AssetsApi } from "./Assets.ts"
import { Authorization } from "./Authorization.ts"
import { ErrorBoundary } from "./ErrorBoundary.ts"
import { GroupsApi } from "./Groups.ts"
import { LocationsApi } from "./Locations.ts"
import { MetaTagsApi } from "./MetaTags.ts"
import { complete } from "./OpenApiDocument.ts"
import { PostsApi } from "./Posts.ts"
import { ProductsApi } from "./Products.ts"
import { UploadsApi } from "./Uploads.ts"
import { UsersApi } from "./Users.ts"

const description = `Content and location management for a brand with many branches.

Every operation needs an API key in the \`Authorization\` header; \`x-required-permissions\` names what the key must hold.
A successful answer is \`{ "_tag": "Success", "data": … }\`, a failed one \`{ "_tag": "…Error", "message": … }\`.

Any operation can also answer 405, 412, 413, 414, 415, 429 and 503 with an error of the shape of its name.`

const strict = { onExcessProperty: "error", reportInput: true } as const

/** The whole API on one screen: its groups, what guards them, and how strictly requests are read. */
const definition = HttpApi.make("waypost")
  .add(
    UsersApi,
    ProductsApi,
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
  .annotate(HttpApi.AdditionalSchemas, TransportError.members)
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
