import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  AssetCategory,
  AssetCategoryCreate,
  AssetCategoryId,
  AssetCategoryNotFoundError,
  InvalidAssetCategoriesError,
  PartialAssetCategory,
  sortable
} from "../../domain/assets/AssetCategory.ts"
import { InvalidLocaleError } from "../../domain/schema/Locale.ts"
import { group, operation } from "../Describe.ts"
import * as Bulk from "../writes/Bulk.ts"
import * as Delta from "../changes/Delta.ts"
import * as History from "../changes/History.ts"
import * as Restore from "../changes/Restore.ts"
import * as Envelope from "../Envelope.ts"
import { limits, ofManyRecords } from "../Limits.ts"
import * as Records from "../Records.ts"

const uuid = { uuid: AssetCategoryId }

/** The categories of assets. */
export class AssetCategoriesApi extends HttpApiGroup.make("assetCategories")
  .add(
    HttpApiEndpoint.get("list", "/", Records.list(AssetCategory, sortable)).pipe(
      operation(
        "read:meta-tags",
        "List asset categories",
        "A page of asset categories, each with the uuid of its parent."
      )
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: AssetCategoryCreate,
      success: Envelope.Created(AssetCategoryId),
      error: [InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      operation(
        "create:meta-tags",
        "Create an asset category",
        "`key` is required; `parentUuid` is the parent category."
      )
    ),
    HttpApiEndpoint.post(
      "bulk",
      "/bulk",
      Bulk.bulk({
        name: "AssetCategory",
        id: AssetCategoryId,
        create: AssetCategoryCreate,
        patch: PartialAssetCategory,
        key: "key",
        errors: [AssetCategoryNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError]
      })
    ).pipe(Bulk.writing("meta-tags", "asset categories")),
    HttpApiEndpoint.get("delta", "/delta", Delta.delta(AssetCategoryId, AssetCategory, "AssetCategory")).pipe(
      Delta.mirroring("read:meta-tags", "asset categories")
    ),
    HttpApiEndpoint.get(
      "get",
      "/:uuid",
      Records.getAt(AssetCategoryId, AssetCategory, AssetCategoryNotFoundError)
    ).pipe(operation("read:meta-tags", "Get an asset category", "The asset category.")),
    HttpApiEndpoint.post(
      "restore",
      "/:uuid/restore",
      Restore.restoration(AssetCategoryId, AssetCategoryNotFoundError, [])
    ).pipe(Restore.restoring("meta-tags", "asset category")),
    HttpApiEndpoint.get("history", "/:uuid/history", History.history(AssetCategoryId, AssetCategoryNotFoundError)).pipe(
      History.describing("read:meta-tags", "asset category")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialAssetCategory,
      success: Envelope.Written(AssetCategoryId),
      error: [AssetCategoryNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      operation(
        "update:meta-tags",
        "Update an asset category",
        "Absent members are unchanged, `null` clears, `translations` are replaced as a whole. A category cannot be its own ancestor."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", Records.remove(AssetCategoryId, AssetCategoryNotFoundError)).pipe(
      operation(
        "delete:meta-tags",
        "Delete an asset category",
        "Removes the category, also from its assets. Fails while it has child categories or meta tags apply to it."
      ),
      limits(ofManyRecords)
    )
  )
  .prefix("/v1/asset-categories")
  .annotateMerge(group("Asset categories", "The hierarchy of categories that assets belong to.")) {}
