import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  Asset,
  AssetCreate,
  AssetId,
  AssetInUseError,
  AssetNotFoundError,
  CategoryReferences,
  extraMembers,
  PartialAsset,
  sortable
} from "../../domain/assets/Asset.ts"
import { InvalidAssetCategoriesError } from "../../domain/assets/AssetCategory.ts"
import { AssetMetaTag, MetaTagInputs, MetaTagValidationError } from "../../domain/assets/metaTags/AssetMetaTag.ts"
import { storable } from "../../domain/schema/Fields.ts"
import { FileNotFoundError } from "../../domain/assets/File.ts"
import { InvalidFilterError } from "../../domain/query/Filter.ts"
import { InvalidLocaleError, Locale } from "../../domain/schema/Locale.ts"
import { MetaTagDefinition } from "../../domain/assets/metaTags/MetaTag.ts"
import { at } from "../changes/Past.ts"
import { group, operation } from "../Describe.ts"
import * as Bulk from "../writes/Bulk.ts"
import * as Delta from "../changes/Delta.ts"
import * as History from "../changes/History.ts"
import * as Restore from "../changes/Restore.ts"
import * as Envelope from "../Envelope.ts"
import { fields, flag, includable, ListQuery } from "../ListQuery.ts"
import * as Records from "../Records.ts"

const uuid = { uuid: AssetId }
const include = includable(extraMembers)
const locale = { locale: Schema.optionalKey(Locale) }
const category = { category: Schema.optionalKey(CategoryReferences) }

/** The documented schema has no default, because the default depends on `search`. */
const sortBy = Schema.optionalKey(
  Schema.Literals([...sortable, "relevance"]).annotate({
    description:
      "The field to sort by. The default is `relevance` with `search`, and `createdAt` without. `relevance` cannot be used with `after`. Records without the value come last."
  })
)

/** Search terms; an empty text searches for nothing. */
const SearchText = Schema.String.check(
  storable(true),
  Schema.isMaxCodePoints(200, { expected: "at most 200 characters", code: "tooLong" })
).annotate({
  description:
    "Words to find in names, descriptions, file names, categories and meta tags; the last one may be incomplete.",
  examples: ["summer poster"]
})

/** Brand material. */
export class AssetsApi extends HttpApiGroup.make("assets")
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: { ...ListQuery(Asset, sortable), ...include },
      success: Envelope.Page(Asset),
      error: InvalidFilterError
    }).pipe(operation("read:assets", "List assets", "A page of assets, sorted and filtered. The total is exact.")),
    HttpApiEndpoint.post("create", "/", {
      payload: AssetCreate,
      success: Envelope.Created(AssetId),
      error: [FileNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError, MetaTagValidationError]
    }).pipe(
      operation(
        "create:assets",
        "Create a new asset",
        "Creates an asset of a completed upload. Without translations it has the name of its file. A file belongs to one asset."
      )
    ),
    HttpApiEndpoint.get("search", "/search", {
      query: {
        ...ListQuery(Asset, sortable),
        sortBy,
        ...include,
        ...locale,
        search: Schema.optionalKey(SearchText),
        ...category
      },
      success: Envelope.Page(Asset),
      error: [InvalidFilterError, InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      operation(
        "read:assets",
        "Search assets",
        "Finds assets by words, the best match first. Accents and case are ignored, and misspelt words match similar ones. With `locale` the translation of that locale is searched and listed first, and options of meta tags are labelled in it."
      )
    ),
    HttpApiEndpoint.get("listMetaTags", "/meta-tags", {
      query: { ...locale, ...category },
      success: Envelope.One(Schema.Array(MetaTagDefinition)),
      error: [InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      operation(
        "read:assets",
        "Get all meta tags",
        "The definitions of all meta tags, or of those that apply to a category; with `locale` its translations are listed first. It is a 400 if they have more than 15 MiB."
      )
    ),
    HttpApiEndpoint.post(
      "bulk",
      "/bulk",
      Bulk.bulkWithoutKey({
        name: "Asset",
        id: AssetId,
        create: AssetCreate,
        patch: PartialAsset,
        errors: [
          AssetNotFoundError,
          FileNotFoundError,
          InvalidAssetCategoriesError,
          InvalidLocaleError,
          MetaTagValidationError,
          AssetInUseError
        ]
      })
    ).pipe(Bulk.writing("assets", "assets", { upserts: false })),
    HttpApiEndpoint.get("delta", "/delta", Delta.delta(AssetId, Asset, "Asset")).pipe(
      Delta.mirroring("read:assets", "assets")
    ),
    HttpApiEndpoint.get("get", "/:uuid", {
      ...Records.getAt(AssetId, Asset, AssetNotFoundError),
      query: { ...fields(Asset), ...include, ...at }
    }).pipe(operation("read:assets", "Get asset", "The asset, with new signed URLs of its file.")),
    HttpApiEndpoint.post(
      "restore",
      "/:uuid/restore",
      Restore.restoration(AssetId, AssetNotFoundError, [FileNotFoundError])
    ).pipe(Restore.restoring("assets", "asset")),
    HttpApiEndpoint.get("history", "/:uuid/history", History.history(AssetId, AssetNotFoundError)).pipe(
      History.describing("read:assets", "asset")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialAsset,
      success: Envelope.Written(AssetId),
      error: [AssetNotFoundError, FileNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      operation(
        "update:assets",
        "Update an asset",
        "Translations are merged by locale, and a `name` of `null` removes one; `categories` replaces all categories; `fileUuid` replaces the file and keeps the uuid."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", {
      params: uuid,
      query: { force: Schema.optionalKey(flag("Deletes the asset although it is in use.")) },
      success: Envelope.Written(AssetId),
      error: [AssetNotFoundError, AssetInUseError]
    }).pipe(
      operation(
        "delete:assets",
        "Delete an asset",
        "Fails if the asset is in use and `force` is not true; the error lists where."
      )
    ),
    HttpApiEndpoint.get("getMetaTags", "/:uuid/meta-tags", {
      params: uuid,
      query: locale,
      success: Envelope.One(Schema.Array(AssetMetaTag)),
      error: [AssetNotFoundError, InvalidLocaleError]
    }).pipe(
      operation(
        "read:assets",
        "Get asset meta tags",
        "The values of an asset; with `locale`, options have their labels in that locale."
      )
    ),
    HttpApiEndpoint.patch("updateMetaTags", "/:uuid/meta-tags", {
      params: uuid,
      payload: Schema.Struct({ metaTags: MetaTagInputs }),
      success: Envelope.Written(AssetId),
      error: [AssetNotFoundError, MetaTagValidationError]
    }).pipe(
      operation(
        "update:assets",
        "Update asset meta tags",
        "Values are merged by key, `null` removes. If some values are invalid, nothing is written and the error lists them. `If-Match` takes the ETag of these values, read in any locale, or of the asset."
      )
    )
  )
  .prefix("/v1/assets")
  .annotateMerge(
    group("Assets", "Brand material: files with translated names and descriptions, categories and meta tags.")
  ) {}
