import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InvalidAssetCategoriesError } from "../../domain/assets/AssetCategory.ts"
import { InvalidLocaleError } from "../../domain/schema/Locale.ts"
import {
  MetaTagDefinition,
  MetaTagDefinitionCreate,
  MetaTagId,
  MetaTagNotFoundError,
  PartialMetaTagDefinition,
  sortable
} from "../../domain/assets/metaTags/MetaTag.ts"
import { group, operation } from "../Describe.ts"
import * as Bulk from "../writes/Bulk.ts"
import * as Delta from "../changes/Delta.ts"
import * as History from "../changes/History.ts"
import * as Restore from "../changes/Restore.ts"
import * as Envelope from "../Envelope.ts"
import { limits, ofManyRecords } from "../Limits.ts"
import * as Records from "../Records.ts"

const uuid = { uuid: MetaTagId }

/** Definitions of custom fields of assets. */
export class MetaTagsApi extends HttpApiGroup.make("metaTags")
  .add(
    HttpApiEndpoint.get("list", "/", Records.list(MetaTagDefinition, sortable)).pipe(
      operation("read:meta-tags", "List meta tags", "A page of the definitions of meta tags, with their options.")
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: MetaTagDefinitionCreate,
      success: Envelope.Created(MetaTagId),
      error: [InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      operation(
        "create:meta-tags",
        "Create a meta tag",
        "`key` and `type` are required and cannot change. A new required meta tag does not affect existing assets. All meta tags together have at most 16 MiB: their texts, rules and options, and 1 KiB for each."
      )
    ),
    HttpApiEndpoint.post(
      "bulk",
      "/bulk",
      Bulk.bulk({
        name: "MetaTag",
        id: MetaTagId,
        create: MetaTagDefinitionCreate,
        patch: PartialMetaTagDefinition,
        key: "key",
        errors: [MetaTagNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError]
      })
    ).pipe(Bulk.writing("meta-tags", "meta tags")),
    HttpApiEndpoint.get("delta", "/delta", Delta.delta(MetaTagId, MetaTagDefinition, "MetaTag")).pipe(
      Delta.mirroring("read:meta-tags", "meta tags")
    ),
    HttpApiEndpoint.get("get", "/:uuid", Records.getAt(MetaTagId, MetaTagDefinition, MetaTagNotFoundError)).pipe(
      operation("read:meta-tags", "Get a meta tag", "The definition with its options.")
    ),
    HttpApiEndpoint.post("restore", "/:uuid/restore", Restore.restoration(MetaTagId, MetaTagNotFoundError, [])).pipe(
      Restore.restoring("meta-tags", "meta tag")
    ),
    HttpApiEndpoint.get("history", "/:uuid/history", History.history(MetaTagId, MetaTagNotFoundError)).pipe(
      History.describing("read:meta-tags", "meta tag")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialMetaTagDefinition,
      success: Envelope.Written(MetaTagId),
      error: [MetaTagNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      operation(
        "update:meta-tags",
        "Update a meta tag",
        "Absent members are unchanged, `null` clears. `options` are replaced as a whole; an option in use cannot be removed, only made inactive. Values of assets are unchanged."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", Records.remove(MetaTagId, MetaTagNotFoundError)).pipe(
      operation("delete:meta-tags", "Delete a meta tag", "Deletes the definition and its values of all assets."),
      limits(ofManyRecords)
    )
  )
  .prefix("/v1/meta-tags")
  .annotateMerge(group("Meta tags", "Definitions of custom fields of assets.")) {}
