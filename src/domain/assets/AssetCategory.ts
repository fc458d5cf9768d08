import { Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { formed, isUuid, text, Timestamp, Uuid } from "../schema/Fields.ts"
import { SortPosition } from "../schema/SortPosition.ts"
import { listed } from "../write/Excerpts.ts"
import { notFound, notFoundError } from "../write/NotFound.ts"
import { translations } from "../schema/Translations.ts"
import { defaulted, readOnly, references } from "../write/Markers.ts"
import * as Shape from "../write/Shape.ts"

export const AssetCategoryId = Uuid.pipe(Schema.brand("AssetCategoryId"))
export type AssetCategoryId = typeof AssetCategoryId.Type

export const maxKey = 64
const keyPattern = new RegExp(`^[a-z0-9-]{1,${maxKey}}$`)

/** Whether a text could be the key of a category. */
export const isKey = (text: string): boolean => keyPattern.test(text)

/** A category that assets can be in; it stands below its parent, if it has one. */
export const AssetCategory = Schema.Struct({
  uuid: readOnly(AssetCategoryId),
  key: formed(maxKey, {
    pattern: keyPattern,
    expected: `1 to ${maxKey} lower-case letters, digits and hyphens`,
    example: "product-photos"
  })
    .check(
      // Where a category is named by its key or its uuid, one text must not mean two of them.
      Schema.makeFilter<string>((key) => !isUuid(key), { expected: "a key that is no UUID", code: "invalidFormat" })
    )
    .pipe(Schema.annotateEncoded({ description: "Unique among asset categories.", examples: ["product-photos"] })),
  translations: translations({ name: text(100).pipe(Schema.annotateEncoded({ examples: ["Productfoto's"] })) }),
  parentUuid: Schema.optionalKey(AssetCategoryId).pipe(references("categories")),
  position: defaulted(SortPosition),
  createdAt: readOnly(Timestamp),
  editedAt: readOnly(Timestamp)
}).annotate({ identifier: "AssetCategory" })
export type AssetCategory = typeof AssetCategory.Type

export const AssetCategoryCreate = Shape.create(AssetCategory).annotate({
  identifier: "AssetCategoryCreate"
})
export type AssetCategoryCreate = typeof AssetCategoryCreate.Type

export const PartialAssetCategory = Shape.patch(AssetCategory).annotate({
  identifier: "PartialAssetCategory"
})
export type PartialAssetCategory = typeof PartialAssetCategory.Type

export class AssetCategoryNotFoundError extends ApiError<AssetCategoryNotFoundError>()(
  ...notFoundError("AssetCategoryNotFoundError")
) {
  static of = (uuid: string) => new AssetCategoryNotFoundError(notFound("asset category", uuid))
}

/** Some of the categories that were named do not exist. */
export class InvalidAssetCategoriesError extends ApiError<InvalidAssetCategoriesError>()(
  "InvalidAssetCategoriesError",
  { message: Schema.String, invalid: Schema.Array(Schema.String) },
  { httpApiStatus: 400 }
) {
  static of = (invalid: ReadonlyArray<string>) =>
    new InvalidAssetCategoriesError({
      message: `No asset category has the key or uuid ${listed(invalid)}`,
      invalid
    })
}

export const sortable = ["key", "position", "createdAt", "editedAt"] as const
