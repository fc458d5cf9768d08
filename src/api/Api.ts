import { Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { TransportError } from "../domain/write/RequestErrors.ts"
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

/** What any operation can answer and none lists, as `405 MethodNotAllowedError`. */
const common = TransportError.members
  .map((member) => `\`${Schema.resolveAnnotations(member)?.["httpApiStatus"]} ${member.fields._tag.schema.literal}\``)
  .filter((error) => !/^`(?:400|404|500) /.test(error))

const description = `Content and location management for a brand with many branches.

Every operation needs an API key in the \`Authorization\` header; \`x-required-permissions\` names what the key must hold.
A successful answer is \`{ "_tag": "Success", "data": … }\`, a failed one \`{ "_tag": "…Error", "message": … }\`.

Beside what it lists, any operation can answer ${common.join(", ")}.
A read that is repeated with \`If-None-Match\` answers 304 as long as nothing has changed.`

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
