import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { InvalidAssetCategoriesError } from "../domain/assets/AssetCategory.ts"
import { InvalidFilterError } from "../domain/query/Filter.ts"
import { InvalidLocaleError } from "../domain/schema/Locale.ts"
import {
  MetaTagDefinition,
  MetaTagDefinitionCreate,
  MetaTagId,
  MetaTagNotFoundError,
  PartialMetaTagDefinition,
  sortable
} from "../domain/assets/metaTags/MetaTag.ts"
import { requires } from "./Authorization.ts"
import { describe } from "./Describe.ts"
import * as Envelope from "./Envelope.ts"
import { ListQuery } from "./ListQuery.ts"

const uuid = { uuid: MetaTagId }

/** Which values assets can have beside their names and descriptions. */
export class MetaTagsApi extends HttpApiGroup.make("metaTags")
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: ListQuery(MetaTagDefinition, sortable),
      success: Envelope.Page(MetaTagDefinition),
      error: InvalidFilterError
    }).pipe(
      requires("read:meta-tags"),
      describe("List meta tags", "A page of the definitions of meta tags, with their options.")
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: MetaTagDefinitionCreate,
      success: Envelope.Created(MetaTagId),
      error: [InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      requires("create:meta-tags"),
      describe(
        "Create a meta tag",
        "Only `key` and `type` are required, and neither can change. A new required meta tag asks nothing of assets that exist."
      )
    ),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: uuid,
      success: Envelope.One(MetaTagDefinition),
      error: MetaTagNotFoundError
    }).pipe(requires("read:meta-tags"), describe("Get a meta tag", "The definition as it is now, with its options.")),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialMetaTagDefinition,
      success: Envelope.Written(MetaTagId),
      error: [MetaTagNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      requires("update:meta-tags"),
      describe(
        "Update a meta tag",
        "Absent members stay as they are, `null` clears. `options` is the whole new list; an option that assets have cannot be left out, only made inactive. Values that assets have stay as they are."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", {
      params: uuid,
      success: Envelope.Written(MetaTagId),
      error: MetaTagNotFoundError
    }).pipe(
      requires("delete:meta-tags"),
      describe("Delete a meta tag", "Deletes the definition and every value that assets have of it.")
    )
  )
  .prefix("/v1/meta-tags")
  .annotateMerge(
    OpenApi.annotations({ title: "Meta tags", description: "Definitions of what can be said about assets." })
  ) {}
