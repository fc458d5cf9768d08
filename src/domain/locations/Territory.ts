import { Schema, SchemaTransformation } from "effect"
import { parameter } from "../query/Parameter.ts"
import { CountryCode } from "../schema/Country.ts"
import { formed } from "../schema/Fields.ts"
import { Count } from "../schema/WholeNumber.ts"
import { Location, LocationId } from "./Location.ts"

/** A postal code that a request asks for: spaces, hyphens and case do not matter. */
export const AskedPostalCode = formed(16, {
  min: 2,
  pattern: /^[ -]*(?:[A-Za-z0-9][ -]*){2,}$/,
  expected: "at least two letters or digits, with spaces and hyphens only",
  example: "3511 AB"
}).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({
      decode: (code) => code.toUpperCase().replaceAll(/[ -]/g, ""),
      encode: (code) => code
    })
  ),
  Schema.annotateEncoded({ description: "The code that is asked for; spaces, hyphens and case do not matter." })
)

/** Numeric codes from one to another, both included, as texts of as many digits. */
export interface CodeRange {
  readonly from: string
  readonly to: string
}

/** How many codes a range has at most. */
const maxCodes = 100_000

const rangeForm = /^\s*(\d{4,16})\s*-\s*(\d{4,16})\s*$/

export const CodesWithin = parameter<CodeRange>({
  type: Schema.Struct({ from: Schema.String, to: Schema.String }),
  expected: `two codes of as many digits, four or more, the first not above the second, with at most ${maxCodes.toLocaleString("en")} codes`,
  description: "With `kind=gaps`: the codes to look at, from one to another.",
  example: "1000-9999",
  parse: (text) => {
    const [, from = "", to = ""] = rangeForm.exec(text) ?? []
    const codes = from.length === to.length && from !== "" ? BigInt(to) - BigInt(from) + 1n : 0n
    return codes >= 1n && codes <= maxCodes ? { from, to } : undefined
  },
  print: ({ from, to }) => `${from}-${to}`
})

const branch = { uuid: LocationId, name: Location.fields.name, identifier: Location.fields.identifier }

/** Why a location serves a postal code, the best reason first. */
const matches = ["exact", "prefix", "address", "nearest"] as const

/** A location that serves a postal code. */
export const ServingLocation = Schema.Struct({
  ...branch,
  match: Schema.Literals(matches).annotate({
    description:
      "`exact`: the location lists the code; `prefix`: it lists a code that contains it; `address`: its zip code fits; `nearest`: it is near the place that was given."
  }),
  postalCode: Schema.optionalKey(
    Schema.String.annotate({
      description: "As the location lists it, otherwise the zip code of its address.",
      examples: ["3511"]
    })
  ),
  distanceMetres: Schema.optionalKey(
    Count.annotate({ description: "With `near`, for a location with coordinates.", examples: [850] })
  )
}).annotate({ identifier: "ServingLocation" })
export type ServingLocation = typeof ServingLocation.Type

/** A postal code that several locations of a country claim. */
export const TerritoryConflict = Schema.Struct({
  postalCode: Schema.String.annotate({ description: "Without spaces and hyphens.", examples: ["3511AB"] }),
  countryCode: Schema.optionalKey(CountryCode).pipe(
    Schema.annotateEncoded({
      description: "The country of the addresses; absent for locations without one."
    })
  ),
  locations: Schema.Array(
    Schema.Struct({
      ...branch,
      postalCode: Schema.String.annotate({
        description: "The code as the location lists it, or the longest one that contains it.",
        examples: ["3511"]
      })
    })
  )
}).annotate({ identifier: "TerritoryConflict" })
export type TerritoryConflict = typeof TerritoryConflict.Type

/** Consecutive codes that no location claims. */
export const TerritoryGap = Schema.Struct({
  from: Schema.String.annotate({ examples: ["1104"] }),
  to: Schema.String.annotate({ description: "The last code of the gap.", examples: ["1109"] })
}).annotate({ identifier: "TerritoryGap" })
export type TerritoryGap = typeof TerritoryGap.Type
