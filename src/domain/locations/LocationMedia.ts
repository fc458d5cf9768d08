import { Array as Arr, Order, Schema, SchemaIssue } from "effect"
import { atMost } from "../schema/Checks.ts"
import { AssetId } from "../assets/Asset.ts"
import { normalise } from "../schema/Normalise.ts"
import { formed, text, Uuid } from "../schema/Fields.ts"
import { ignored, references } from "../write/Markers.ts"
import { FileId, FileUrls } from "../assets/File.ts"
import { ItemLocale } from "../schema/Translations.ts"
import { Count } from "../schema/WholeNumber.ts"

/** A caption in one language. */
const Label = Schema.Struct({
  key: formed(100, {
    pattern: /^[A-Za-z]\w*(?:\.\w+)*$/,
    expected: "the name of a member, dotted where it is nested",
    example: "other.extraDna3"
  }).pipe(Schema.annotateEncoded({ description: "What it is the caption of.", examples: ["other.extraDna3"] })),
  locale: ItemLocale,
  label: text(100).pipe(Schema.annotateEncoded({ examples: ["Openingstijden op de flyer"] }))
}).annotate({ identifier: "TranslationLabel" })
export type TranslationLabel = typeof Label.Type

const byKey = Order.combine(
  Order.mapInput(Order.String, ({ key }: TranslationLabel) => key),
  Order.mapInput(Order.String, ({ locale }: TranslationLabel) => locale)
)

/** Captions, one per key and locale, sorted by them. */
export const TranslationLabels = Schema.Array(Label)
  .check(
    atMost(1000, "labels"),
    Schema.makeFilter<ReadonlyArray<TranslationLabel>>(
      (labels) => new Set(labels.map(({ key, locale }) => `${key} ${locale}`)).size === labels.length,
      { expected: "at most one label per key and locale", code: "notUnique" }
    )
  )
  .pipe(Schema.decode(normalise<ReadonlyArray<TranslationLabel>>((labels) => Arr.sort(labels, byKey))))

const Role = Schema.Literals(["logo", "exterior", "interior", "team", "menu", "other"])

/** A picture, video or document of a location. */
const MediaItem = Schema.Struct({
  uuid: Uuid,
  assetUuid: Schema.optionalKey(AssetId).pipe(references("assets")),
  fileUuid: Schema.optionalKey(FileId),
  role: Role,
  type: Schema.Literals(["image", "video", "document"]),
  urls: Schema.Struct({
    original: FileUrls.fields.original,
    thumbnail: FileUrls.fields.thumbnail,
    preview: FileUrls.fields.preview
  }),
  position: Count,
  labels: TranslationLabels
}).annotate({ identifier: "MediaItem" })

/** The media of a location. */
export const LocationMedia = Schema.Struct({
  logo: Schema.optionalKey(MediaItem),
  items: Schema.Array(MediaItem)
}).annotate({ identifier: "LocationMedia" })

const readOnlyMembers = {
  uuid: ignored(MediaItem.fields.uuid),
  type: ignored(MediaItem.fields.type),
  urls: ignored(MediaItem.fields.urls),
  position: ignored(MediaItem.fields.position)
}

/** An item as it is written: an asset or a file, whose place in the list is its position. */
const MediaItemInput = Schema.Struct({
  assetUuid: Schema.optionalKey(Schema.NullOr(AssetId)),
  fileUuid: Schema.optionalKey(Schema.NullOr(FileId)),
  role: Role,
  labels: Schema.optionalKey(Schema.NullOr(TranslationLabels)),
  ...readOnlyMembers
})
  .annotate({ identifier: "MediaItemInput" })
  .check(
    Schema.makeFilter(
      ({ assetUuid, fileUuid }: { readonly assetUuid?: string | null; readonly fileUuid?: string | null }) =>
        (assetUuid ?? undefined) === undefined && (fileUuid ?? undefined) === undefined
          ? { path: ["assetUuid"], issue: new SchemaIssue.MissingKey(undefined) }
          : typeof assetUuid !== "string" || typeof fileUuid !== "string",
      { expected: "either assetUuid or fileUuid, not both", code: "notAllowed" }
    )
  )
export type MediaItemInput = typeof MediaItemInput.Type

/** The whole new media of a location. */
export const LocationMediaInput = Schema.Struct({
  logo: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        assetUuid: AssetId,
        fileUuid: Schema.optionalKey(Schema.Null),
        role: ignored(Role),
        labels: Schema.optionalKey(Schema.NullOr(TranslationLabels)),
        ...readOnlyMembers
      })
    )
  ),
  items: Schema.Array(MediaItemInput).check(atMost(100, "items"))
}).annotate({ identifier: "LocationMediaInput" })
export type LocationMediaInput = typeof LocationMediaInput.Type

/** The whole new captions of a location. */
export const TranslationLabelsInput = Schema.Struct({ translationLabels: TranslationLabels }).annotate({
  identifier: "TranslationLabelsInput"
})
