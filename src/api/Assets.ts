import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  Asset,
  AssetCreate,
  AssetId,
  AssetInUseError,
  AssetNotFoundError,
  CategoryReferences,
  Include,
  PartialAsset,
  sortable
} from "../domain/assets/Asset.ts"
import { InvalidAssetCategoriesError } from "../domain/assets/AssetCategory.ts"
import { AssetMetaTag, MetaTagInputs, MetaTagValidationError } from "../domain/assets/metaTags/AssetMetaTag.ts"
import { storable } from "../domain/schema/Fields.ts"
import { FileNotFoundError } from "../domain/assets/File.ts"
import { InvalidFilterError } from "../domain/query/Filter.ts"
import { InvalidLocaleError, Locale } from "../domain/schema/Locale.ts"
import { MetaTagDefinition } from "../domain/assets/metaTags/MetaTag.ts"
import { requires } from "./Authorization.ts"
import { describe } from "./Describe.ts"
import * as Envelope from "./Envelope.ts"
import { flag, ListQuery } from "./ListQuery.ts"

const uuid = { uuid: AssetId }
const include = { include: Schema.optionalKey(Include) }
const locale = { locale: Schema.optionalKey(Locale) }
const category = { category: Schema.optionalKey(CategoryReferences) }

/** Words to search for; an empty text is no search. */
const SearchText = Schema.String.check(
  storable(true),
  Schema.isMaxCodePoints(200, { expected: "at most 200 characters", code: "tooLong" })
).annotate({
  description:
    "Words to find in names, descriptions, file names, categories and meta tags; the last may be unfinished.",
  examples: ["summer poster"]
})

/** Brand material. */
export class AssetsApi extends HttpApiGroup.make("assets")
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: { ...ListQuery(Asset, sortable), ...include },
      success: Envelope.Page(Asset),
      error: InvalidFilterError
    }).pipe(
      requires("read:assets"),
      describe("List assets", "A page of assets, sorted and filtered. The total is exact.")
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: AssetCreate,
      success: Envelope.Created(AssetId),
      error: [FileNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError, MetaTagValidationError]
    }).pipe(
      requires("create:assets"),
      describe(
        "Create a new asset",
        "Makes a completed upload an asset. Without translations it is named after its file. One file backs one asset."
      )
    ),
    HttpApiEndpoint.get("search", "/search", {
      query: {
        ...ListQuery(Asset, [...sortable, "relevance"]),
        ...include,
        ...locale,
        search: Schema.optionalKey(SearchText),
        ...category
      },
      success: Envelope.Page(Asset),
      error: [InvalidFilterError, InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      requires("read:assets"),
      describe(
        "Search assets",
        "Finds assets by words, the best first; accents and case do not count, and a misspelt word finds its neighbours. With `locale` the translation of that locale is searched and comes first."
      )
    ),
    HttpApiEndpoint.get("listMetaTags", "/meta-tags", {
      query: { ...locale, ...category },
      success: Envelope.One(Schema.Array(MetaTagDefinition)),
      error: [InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      requires("read:assets"),
      describe(
        "Get all meta tags",
        "The definitions of all meta tags, or of those that apply to a category; with `locale` its translations come first."
      )
    ),
    HttpApiEndpoint.get("get", "/:uuid", {
      params: uuid,
      query: include,
      success: Envelope.One(Asset),
      error: AssetNotFoundError
    }).pipe(
      requires("read:assets"),
      describe("Get asset", "The asset as it is now, with fresh addresses of its file.")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialAsset,
      success: Envelope.Written(AssetId),
      error: [AssetNotFoundError, FileNotFoundError, InvalidAssetCategoriesError, InvalidLocaleError]
    }).pipe(
      requires("update:assets"),
      describe(
        "Update an asset",
        "Translations are merged by locale, a `name` of `null` removes one; `categories` is the whole new set; `fileUuid` replaces the file and keeps the uuid."
      )
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", {
      params: uuid,
      query: { force: Schema.optionalKey(flag("Deletes it where it is used as well.")) },
      success: Envelope.Written(AssetId),
      error: [AssetNotFoundError, AssetInUseError]
    }).pipe(
      requires("delete:assets"),
      describe("Delete an asset", "Refused with the places where it is used, unless `force` is true.")
    ),
    HttpApiEndpoint.get("getMetaTags", "/:uuid/meta-tags", {
      params: uuid,
      query: locale,
      success: Envelope.One(Schema.Array(AssetMetaTag)),
      error: [AssetNotFoundError, InvalidLocaleError]
    }).pipe(
      requires("read:assets"),
      describe("Get asset meta tags", "The values of an asset; with `locale` options are labelled in it.")
    ),
    HttpApiEndpoint.patch("updateMetaTags", "/:uuid/meta-tags", {
      params: uuid,
      payload: Schema.Struct({ metaTags: MetaTagInputs }),
      success: Envelope.Written(AssetId),
      error: [AssetNotFoundError, MetaTagValidationError]
    }).pipe(
      requires("update:assets"),
      describe(
        "Update asset meta tags",
        "Merged by key, `null` removes. When one value is not allowed nothing is written, and the error lists all of those."
      )
    )
  )
  .prefix("/v1/assets")
  .annotateMerge(
    OpenApi.annotations({
      title: "Assets",
      description: "Brand material: files with translated names and descriptions, categories and meta tags."
    })
  ) {}
