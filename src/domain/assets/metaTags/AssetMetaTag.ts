import { Schema, SchemaIssue } from "effect"
import { ApiError } from "../../write/ApiError.ts"
import { atMost } from "../../schema/Checks.ts"
import { anyJsonLike, Uuid } from "../../schema/Fields.ts"
import { openWords } from "../../schema/OpenWords.ts"
import { summaryOf } from "../../write/Excerpts.ts"
import { ignored, references } from "../../write/Markers.ts"
import { MetaTagId, MetaTagType, MetaTagValue } from "./MetaTag.ts"

/** A value of an asset, with the options it names. */
export const AssetMetaTag = Schema.Struct({
  uuid: MetaTagId.pipe(Schema.annotateEncoded({ description: "Of the definition." }), references("metaTags")),
  key: Schema.String.annotate({ examples: ["campaignSeason"] }),
  type: MetaTagType,
  value: MetaTagValue,
  options: Schema.Array(
    Schema.Struct({
      uuid: Uuid,
      key: Schema.String.annotate({ examples: ["spring-2026"] }),
      label: Schema.String.annotate({
        description: "In the locale that was asked for, as far as there is one.",
        examples: ["Voorjaar 2026"]
      })
    })
  ).annotate({ description: "The options the value names." })
}).annotate({ identifier: "AssetMetaTag" })
export type AssetMetaTag = typeof AssetMetaTag.Type

/** The members that depend on the locale and not on the values, which are no part of a precondition. */
export const passing: ReadonlyArray<string> = ["label"]

/** A value that is sent for a definition, by its key or uuid; `null` removes it. */
export const MetaTagInput = Schema.Struct({
  key: Schema.optionalKey(Schema.String.annotate({ examples: ["campaignSeason"] })),
  uuid: Schema.optionalKey(Uuid),
  value: anyJsonLike(Schema.NullOr(MetaTagValue)).annotate({
    description: "By the type of the definition, see `AssetMetaTag`; `null` removes.",
    examples: [["spring-2026"]]
  }),
  type: ignored(AssetMetaTag.fields.type),
  options: ignored(AssetMetaTag.fields.options)
}).check(
  Schema.makeFilter(({ key, uuid }: { readonly key?: string; readonly uuid?: string }) =>
    key === undefined && uuid === undefined
      ? { path: ["key"], issue: new SchemaIssue.MissingKey(undefined) }
      : undefined
  )
)
export type MetaTagInput = typeof MetaTagInput.Type

/** How many values one request may send. */
const maxValues = 500

/** The values of one request. */
export const MetaTagInputs = Schema.Array(MetaTagInput).check(atMost(maxValues, "meta tags"))

/** What is wrong with a value. */
export const MetaTagIssue = Schema.Struct({
  key: Schema.String.annotate({ description: "Of the definition, or what was sent for it." }),
  code: openWords([
    "unknownKey",
    "wrongType",
    "required",
    "tooShort",
    "tooLong",
    "outOfRange",
    "pattern",
    "unknownOption",
    "inactiveOption",
    "notApplicable",
    "notEditable",
    "tooMany"
  ]),
  message: Schema.String
}).annotate({ identifier: "MetaTagIssue" })
export type MetaTagIssue = typeof MetaTagIssue.Type

/** Values that their definitions do not allow; nothing was written. */
export class MetaTagValidationError extends ApiError<MetaTagValidationError>()(
  "MetaTagValidationError",
  { message: Schema.String, issues: Schema.Array(MetaTagIssue) },
  { httpApiStatus: 400 }
) {
  static of = (issues: ReadonlyArray<MetaTagIssue>) =>
    new MetaTagValidationError({
      message: summaryOf(issues.map(({ key, message }) => `${key}: ${message}`)),
      issues
    })
}
