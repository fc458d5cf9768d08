import { Schema, SchemaTransformation, Struct } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { atMost } from "../schema/Checks.ts"
import { AssetMetaTag, MetaTagInputs } from "./metaTags/AssetMetaTag.ts"
import { decimal, text, Timestamp, Uuid } from "../schema/Fields.ts"
import { ignored, readOnly, references } from "../write/Markers.ts"
import { FileId, FileUrls } from "./File.ts"
import { keyed } from "../query/FilterFields.ts"
import { allNotFound, manyNotFoundError, notFound } from "../write/NotFound.ts"
import { translations } from "../schema/Translations.ts"
import { Count } from "../schema/WholeNumber.ts"
import * as Shape from "../write/Shape.ts"
import { openWords } from "../schema/OpenWords.ts"

export const AssetId = Uuid.pipe(Schema.brand("AssetId"))
export type AssetId = typeof AssetId.Type

export const maxName = 255
const Name = text(maxName).pipe(Schema.annotateEncoded({ examples: ["Zomeractie poster"] }))
const Description = text(5000, { multiline: true })

/** Members that are answered only with `?include=`. */
const extras = {
  categories: Schema.optionalKey(readOnly(Schema.Array(Schema.String.annotate({ examples: ["product-photos"] })))).pipe(
    references("categories")
  ),
  metaTags: Schema.optionalKey(
    readOnly(
      Schema.Array(AssetMetaTag).annotate({
        [keyed]: "that of a meta tag whose definition is `filterable`, and its type decides the operators"
      })
    )
  ),
  width: Schema.optionalKey(readOnly(Count.annotate({ description: "Pixels, as shown." }))),
  height: Schema.optionalKey(readOnly(Count.annotate({ description: "Pixels, as shown." }))),
  duration: Schema.optionalKey(readOnly(Schema.Finite.annotate({ description: "Seconds." }))),
  mimeType: Schema.optionalKey(
    readOnly(Schema.String.annotate({ description: "Detected from the bytes where possible, otherwise as declared." }))
  ),
  sha256: Schema.optionalKey(readOnly(Schema.String)),
  processing: Schema.optionalKey(readOnly(Schema.Literals(["pending", "ready", "failed"]))),
  validFrom: Schema.optionalKey(Timestamp),
  validUntil: Schema.optionalKey(Timestamp),
  focalPoint: Schema.optionalKey(
    Schema.Struct({
      x: decimal(0, 1, 4).annotate({ description: "From the left edge, 0 to 1." }),
      y: decimal(0, 1, 4).annotate({ description: "From the top edge, 0 to 1." })
    })
  )
}

export const extraMembers = Struct.keys(extras)

/** Brand material: a file with its names and descriptions. */
export const Asset = Schema.Struct({
  uuid: readOnly(AssetId),
  urls: readOnly(FileUrls),
  fileExtension: readOnly(Schema.String.annotate({ examples: ["pdf"] })),
  fileNameOriginal: readOnly(Schema.String.annotate({ examples: ["summer-sale-poster.pdf"] })),
  fileSize: readOnly(Count.annotate({ description: "Bytes.", examples: [2_400_000] })),
  translations: translations({ name: Name, description: Schema.optionalKey(Description) }),
  ...extras,
  createdAt: readOnly(Timestamp),
  editedAt: readOnly(Timestamp)
}).annotate({ identifier: "Asset" })
export type Asset = typeof Asset.Type

/** The categories an asset is in, the whole set. */
const Categories = Schema.Array(text(64).pipe(Schema.annotateEncoded({ description: "The key or the uuid." }))).check(
  atMost(20, "categories")
)

const { categories: _c, metaTags: _m, translations: _t, ...created } = Shape.create(Asset).fields

/** What creates an asset from a completed upload; without translations it is named after its file. */
export const AssetCreate = Schema.Struct({
  ...created,
  translations: Schema.optionalKey(
    Schema.NullOr(translations({ name: Name, description: Schema.optionalKey(Schema.NullOr(Description)) }))
  ),
  fileUuid: FileId,
  categories: Schema.optionalKey(Schema.NullOr(Categories)),
  metaTags: Schema.optionalKey(Schema.NullOr(MetaTagInputs))
}).annotate({ identifier: "AssetCreate" })
export type AssetCreate = typeof AssetCreate.Type

/** One translation of a patch: what it leaves out stays, and a name of `null` takes the translation away. */
const PartialTranslations = translations({
  name: Schema.optionalKey(Schema.NullOr(Name)),
  description: Schema.optionalKey(Schema.NullOr(Description))
})

const { categories: _pc, metaTags: _pm, translations: _pt, ...patched } = Shape.patch(Asset).fields

/** What changes an asset; `fileUuid` gives it another file, `translations` are merged by locale. */
export const PartialAsset = Schema.Struct({
  ...patched,
  translations: Schema.optionalKey(PartialTranslations),
  fileUuid: Schema.optionalKey(FileId),
  categories: Schema.optionalKey(Schema.NullOr(Categories)),
  // Written through an operation of its own; here it is ignored.
  metaTags: ignored(Schema.Array(AssetMetaTag))
}).annotate({ identifier: "PartialAsset" })
export type PartialAsset = typeof PartialAsset.Type

export class AssetNotFoundError extends ApiError<AssetNotFoundError>()(...manyNotFoundError("AssetNotFoundError")) {
  static of = (uuid: string) => new AssetNotFoundError(notFound("asset", uuid))
  static ofAll = (uuids: ReadonlyArray<string>) => new AssetNotFoundError(allNotFound("asset", uuids))
}

/** Something a record is used by. */
const Usage = Schema.Struct({ type: openWords(["location", "product", "post"]), uuid: Uuid }).annotate({
  identifier: "Usage"
})
export type Usage = typeof Usage.Type

/** How many usages an error names. */
export const maxUsages = 1000

/** The asset cannot be deleted, because others use it. */
export class AssetInUseError extends ApiError<AssetInUseError>()(
  "AssetInUseError",
  {
    message: Schema.String,
    usages: Schema.Array(Usage).annotate({
      description: `At most ${maxUsages} of them; \`GET /v1/assets/{uuid}/usages\` has all.`
    })
  },
  { httpApiStatus: 400 }
) {
  static of = (usages: ReadonlyArray<Usage>) =>
    new AssetInUseError({
      message: `The asset is used by ${usages
        .slice(0, 3)
        .map(({ type, uuid }) => `${type} ${uuid}`)
        .join(", ")}${usages.length > 3 ? ", …" : ""}; ?force=true deletes it there as well`,
      usages
    })
}

export const sortable = ["name", "fileNameOriginal", "fileExtension", "fileSize", "createdAt", "editedAt"] as const

/** Categories by key or uuid: a comma list, or the parameter several times. */
export const CategoryReferences = Schema.Union([Schema.String, Schema.Array(Schema.String)])
  .annotate({ description: "Keys or uuids of asset categories, comma-separated; any of them, with those below." })
  .pipe(
    Schema.decodeTo(
      Schema.Array(Schema.String).check(atMost(50, "categories")),
      SchemaTransformation.transform<ReadonlyArray<string>, string | ReadonlyArray<string>>({
        decode: (sent) =>
          [sent]
            .flat()
            .flatMap((list) => list.split(","))
            .map((reference) => reference.trim()),
        encode: (list) => list.join(",")
      })
    )
  )
