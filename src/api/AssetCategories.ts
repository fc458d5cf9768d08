import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  AssetCategory,
  AssetCategoryCreate,
  AssetCategoryId,
  AssetCategoryNotFoundError,
  InvalidAssetCategoriesError,
  PartialAssetCategory,
  sortable
} from "../domain/assets/AssetCategory.ts"
import { InvalidFilterError } from "../domain/query/Filter.ts"
import { InvalidLocaleError } from "../domain/schema/Locale.ts"
import { requires } from "./Authorization.ts"
import { describe } from "./Describe.ts"
import * as Envelope from "./Envelope.ts"
import { ListQuery } from "./ListQuery.ts"

const uuid = { uuid: AssetCategoryId }

/** What assets are sorted into. */
export class AssetCategoriesApi extends HttpApiGroup.make("assetCategories")
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: ListQuery(AssetCategory, sortable),
      success: Envelope.Page(AssetCategory),
      error: InvalidFilterError
    }).pipe(
      requires("read:meta-tags"),
      describe("List asset categories", "A page of asset categories, each with the uuid of the one it stands below.")
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: AssetCategoryCreate,
      success: Envelope.Created(AssetCategoryId),
      error: [InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      requires("create:meta-tags"),
      describe("Create an asset category", "Only `key` is required; `parentUuid` puts it below another category.")
    ),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: uuid,
      success: Envelope.One(AssetCategory),
      error: AssetCategoryNotFoundError
    }).pipe(requires("read:meta-tags"), describe("Get an asset category", "The asset category as it is now.")),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialAssetCategory,
      success: Envelope.Written(AssetCategoryId),
      error: [AssetCategoryNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      requires("update:meta-tags"),
      describe(
        "Update an asset category",
        "Absent members stay as they are, `null` clears, `translations` is the whole new list. A category cannot be moved below itself."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", {
      params: uuid,
      success: Envelope.Written(AssetCategoryId),
      error: AssetCategoryNotFoundError
    }).pipe(
      requires("delete:meta-tags"),
      describe(
        "Delete an asset category",
        "Takes it off its assets. Refused while other categories stand below it or meta tags apply to it."
      )
    )
  )
  .prefix("/v1/asset-categories")
  .annotateMerge(OpenApi.annotations({ title: "Asset categories", description: "What assets are sorted into." })) {}
