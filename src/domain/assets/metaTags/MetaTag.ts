import { Schema } from "effect"
import { ApiError } from "../../write/ApiError.ts"
import { atMost } from "../../schema/Checks.ts"
import { formed, text, Timestamp, Uuid } from "../../schema/Fields.ts"
import { limits, Validation } from "./MetaTagValidation.ts"
import { SortPosition } from "../../schema/SortPosition.ts"
import { notFound, notFoundError } from "../../write/NotFound.ts"
import { sentText, translations } from "../../schema/Translations.ts"
import { defaulted, readOnly, references, writtenAs } from "../../write/Markers.ts"
import * as Shape from "../../write/Shape.ts"

export const MetaTagId = Uuid.pipe(Schema.brand("MetaTagId"))
export type MetaTagId = typeof MetaTagId.Type

export const MetaTagType = Schema.Literals([
  "text",
  "longText",
  "integer",
  "decimal",
  "boolean",
  "date",
  "dateTime",
  "url",
  "select",
  "multiSelect"
]).annotate({ identifier: "MetaTagType", description: "Immutable.", examples: ["multiSelect"] })
export type MetaTagType = typeof MetaTagType.Type

/** Text, a number, true or false, `YYYY-MM-DD`, a timestamp, the key of an option, or several of them. */
export const MetaTagValue = Schema.Union([
  Schema.String,
  Schema.Finite,
  Schema.Boolean,
  Schema.Array(Schema.String)
]).annotate({
  identifier: "MetaTagValue",
  description:
    "By the type: text, a number, true or false, `YYYY-MM-DD`, a UTC timestamp, the key of an option, or a list of them.",
  examples: [["spring-2026"]]
})
export type MetaTagValue = typeof MetaTagValue.Type

const MetaTagKey = formed(64, {
  pattern: /^[a-z][a-zA-Z0-9_]{0,63}$/,
  expected: "a key of 1 to 64 letters, digits and underscores that begins with a lower-case letter",
  example: "campaignSeason"
})

const optionFields = {
  key: text(100).pipe(
    Schema.annotateEncoded({
      description: "What values name; an option keeps its uuid as long as its key stays.",
      examples: ["spring-2026"]
    })
  ),
  translations: translations({ label: text(100) })
}

/** A choice of a select. Assets that have an inactive one keep it; others cannot get it. */
export const MetaTagOption = Schema.Struct({
  uuid: Uuid,
  ...optionFields,
  position: SortPosition,
  active: Schema.Boolean,
  parentOptionUuid: Schema.optionalKey(Uuid)
}).annotate({
  identifier: "MetaTagOption",
  examples: [
    {
      uuid: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30",
      key: "spring-2026",
      translations: [{ locale: "nl-NL", label: "Voorjaar 2026" }],
      position: 0,
      active: true
    }
  ]
})
export type MetaTagOption = typeof MetaTagOption.Type

/** An option as it is sent. A uuid only serves `parentOptionUuid` of the same request; the server makes its own. */
const MetaTagOptionInput = Schema.Struct({
  key: optionFields.key,
  uuid: Schema.optionalKey(
    Uuid.pipe(Schema.annotateEncoded({ description: "Only what `parentOptionUuid` of this request refers to." }))
  ),
  translations: Schema.optionalKey(Schema.NullOr(optionFields.translations)),
  position: Schema.optionalKey(SortPosition),
  active: Schema.optionalKey(Schema.Boolean),
  parentOptionUuid: Schema.optionalKey(Schema.NullOr(Uuid))
}).annotate({ identifier: "MetaTagOptionInput" })
export type MetaTagOptionInput = typeof MetaTagOptionInput.Type

const name = text(100).pipe(Schema.annotateEncoded({ examples: ["Seizoen"] }))
const helpText = text(500, { multiline: true })

const flag = (description: string) => defaulted(Schema.Boolean.annotate({ description }))

const categories = Schema.optionalKey(Schema.NullOr(Schema.Array(text(64)).check(atMost(100, "asset categories"))))

const options = Schema.optionalKey(
  Schema.NullOr(Schema.Array(MetaTagOptionInput).check(atMost(limits.options, "options")))
)

/** The definition of a meta tag: which values assets can have under its key. */
export const MetaTagDefinition = Schema.Struct({
  uuid: readOnly(MetaTagId),
  key: MetaTagKey.pipe(
    Schema.annotateEncoded({ description: "Unique among meta tags, immutable.", examples: ["campaignSeason"] })
  ),
  translations: translations({ name, helpText: Schema.optionalKey(helpText) }).pipe(
    writtenAs(Schema.optionalKey(Schema.NullOr(translations({ name, helpText: sentText(helpText) }))))
  ),
  type: MetaTagType,
  required: flag("Whether every new asset it applies to has to have a value; false unless given."),
  filterable: flag(
    "Whether a filter of assets can name it, as `metaTags.<key>`, unless its key is `uuid`, `key` or `type`, which are those of its definition there; false unless given."
  ),
  searchable: flag("Whether its values are found by the search for assets; false unless given."),
  editable: flag("Whether its values can change after the asset was created; true unless given."),
  categories: Schema.Array(text(64))
    .annotate({
      description:
        "The keys of the asset categories it applies to, with those below them; empty: all assets. Uuids are accepted too."
    })
    .pipe(writtenAs(categories), references("categories")),
  group: Schema.optionalKey(
    Schema.Struct({
      key: text(64).pipe(Schema.annotateEncoded({ examples: ["campaign"] })),
      translations: translations({ name: text(100).pipe(Schema.annotateEncoded({ examples: ["Campagne"] })) }),
      position: SortPosition
    })
  ),
  defaultValue: Schema.optionalKey(MetaTagValue),
  validation: Schema.optionalKey(Validation),
  options: Schema.Array(MetaTagOption).pipe(writtenAs(options)),
  position: defaulted(SortPosition),
  createdAt: readOnly(Timestamp),
  editedAt: readOnly(Timestamp)
}).annotate({ identifier: "MetaTagDefinition" })
export type MetaTagDefinition = typeof MetaTagDefinition.Type

export const MetaTagDefinitionCreate = Shape.create(MetaTagDefinition).annotate({
  identifier: "MetaTagDefinitionCreate",
  examples: [
    {
      key: "campaignSeason",
      type: "multiSelect",
      translations: [{ locale: "nl-NL", name: "Seizoen" }],
      filterable: true,
      validation: { maxItems: 2 },
      options: [{ key: "spring-2026", translations: [{ locale: "nl-NL", label: "Voorjaar 2026" }] }]
    }
  ]
})
export type MetaTagDefinitionCreate = typeof MetaTagDefinitionCreate.Type

/** What changes a definition; `options` is the whole new list. */
export const PartialMetaTagDefinition = Shape.patch(MetaTagDefinition).annotate({
  identifier: "PartialMetaTagDefinition",
  examples: [{ required: false, validation: { maxItems: null }, position: 10 }]
})
export type PartialMetaTagDefinition = typeof PartialMetaTagDefinition.Type

export class MetaTagNotFoundError extends ApiError<MetaTagNotFoundError>()(...notFoundError("MetaTagNotFoundError")) {
  static of = (uuid: string) => new MetaTagNotFoundError(notFound("meta tag", uuid))
}

export const sortable = ["key", "type", "position", "createdAt", "editedAt"] as const
