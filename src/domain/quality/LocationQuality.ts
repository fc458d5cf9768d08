import { Schema } from "effect"
import { Location, sortable as sortableOfLocations } from "../locations/Location.ts"
import { openWords } from "../schema/OpenWords.ts"
import { Count, int } from "../schema/WholeNumber.ts"

/** The rules that the data of a location keeps. */
export const qualityRules = [
  "missingPhone",
  "missingEmail",
  "missingAddress",
  "missingCoordinates",
  "zipcodeFormat",
  "phoneCountry",
  "coordinatesOutsideCountry",
  "duplicateAddress",
  "duplicateCoordinates",
  "missingInvoice",
  "missingPostalCodes",
  "territoryConflict",
  "missingLogo"
] as const
export type QualityRule = (typeof qualityRules)[number]

export const QualityIssue = Schema.Struct({
  rule: openWords(qualityRules),
  path: Schema.String.annotate({ description: "The member to correct.", examples: ["contact.phone"] }),
  message: Schema.String.annotate({ examples: ["There is no phone number"] })
}).annotate({ identifier: "QualityIssue" })
export type QualityIssue = typeof QualityIssue.Type

/** A location, and what is wrong with its data. */
export const LocationQuality = Schema.Struct({
  ...Location.fields,
  score: int(0, 100).annotate({
    description: "The share of the rules that the location keeps, in percent.",
    examples: [85]
  }),
  issues: Schema.Array(QualityIssue).annotate({ description: "The rules that it breaks, one issue each." })
}).annotate({ identifier: "LocationQuality" })
export type LocationQuality = typeof LocationQuality.Type

export const sortable = ["score", ...sortableOfLocations] as const

/** How many locations break each rule; a rule that none breaks is absent. */
export const QualityCounts = Schema.Struct(
  Object.fromEntries(qualityRules.map((rule) => [rule, Schema.optionalKey(Count)])) as {
    readonly [Rule in QualityRule]: Schema.optionalKey<typeof Count>
  }
).annotate({
  identifier: "QualityCounts",
  description: "How many locations break each rule, whatever the filter is; a rule that none breaks is absent.",
  examples: [{ missingPhone: 12, missingLogo: 250 }]
})
export type QualityCounts = typeof QualityCounts.Type

/** The score of a location by the number of rules that it breaks. */
export const scoreOf = (broken: number): number => Math.round(100 * (1 - broken / qualityRules.length))
