import { Schema } from "effect"
import { type ManagedType, readPermissions, typeOfKind } from "../changes/RecordType.ts"
import { commaList } from "../schema/CommaList.ts"
import { Uuid } from "../schema/Fields.ts"
import { Locale } from "../schema/Locale.ts"
import { openWords } from "../schema/OpenWords.ts"
import { Count } from "../schema/WholeNumber.ts"

/** The resources that have translations, and the type of their records. */
export const translatedResources = {
  products: typeOfKind.products,
  assets: typeOfKind.assets,
  posts: typeOfKind.posts,
  "asset-categories": typeOfKind.assetCategories,
  "meta-tags": typeOfKind.metaTags
} as const satisfies Readonly<Record<string, ManagedType>>
const words = ["products", "assets", "posts", "asset-categories", "meta-tags"] as const
export const TranslatedResource = Schema.Literals(words)
export type TranslatedResource = typeof TranslatedResource.Type

/** The permission to read the records of a resource. */
export const readPermissionOf = (resource: TranslatedResource) => readPermissions[translatedResources[resource]]

/** How far the records of a resource are translated into a locale. */
export const LocaleCoverage = Schema.Struct({
  resource: openWords(words),
  locale: Locale,
  records: Count,
  complete: Count.annotate({
    description: "Records with every text of their default translation in exactly this locale."
  }),
  partial: Count.annotate({ description: "Records with some of these texts." }),
  missing: Count.annotate({ description: "Records with none of them." })
}).annotate({ identifier: "LocaleCoverage" })
export type LocaleCoverage = typeof LocaleCoverage.Type

/** How far a record is translated. */
export const RecordCoverage = Schema.Struct({
  resource: openWords(words),
  uuid: Uuid,
  label: Schema.optionalKey(
    Schema.String.annotate({ description: "The name, title or key of the record.", examples: ["Flyer A5"] })
  ),
  translations: Schema.Array(
    Schema.Struct({
      locale: Locale,
      status: openWords(["complete", "partial", "missing"]),
      absent: Schema.Array(Schema.String).annotate({
        description: "The texts of the default translation that are not there.",
        examples: [["description"]]
      })
    })
  )
}).annotate({ identifier: "RecordCoverage" })
export type RecordCoverage = typeof RecordCoverage.Type

/** Locales: a comma list. */
export const CoveredLocales = Schema.String.annotate({
  description: "Up to 20 locales, comma-separated.",
  examples: ["nl-NL,de-DE"]
}).pipe(
  Schema.decodeTo(
    Schema.Array(Schema.String).check(Schema.isMaxLength(20, { expected: "at most 20 locales", code: "tooMany" })),
    commaList
  )
)
