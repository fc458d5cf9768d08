import { Schema } from "effect"
import { Near } from "../../domain/locations/Area.ts"
import {
  AskedPostalCode,
  CodesWithin,
  ServingLocation,
  TerritoryConflict,
  TerritoryGap
} from "../../domain/locations/Territory.ts"
import { CountryCode } from "../../domain/schema/Country.ts"
import * as Envelope from "../Envelope.ts"
import { integer, pages } from "../ListQuery.ts"

/** The schemas of the locations that serve a postal code. */
export const resolve = {
  query: {
    postalCode: AskedPostalCode,
    countryCode: Schema.optionalKey(CountryCode),
    near: Schema.optionalKey(
      Near.pipe(
        Schema.annotateEncoded({
          description:
            "A place as `latitude,longitude`: of locations that match alike, the nearest come first, and the nearest are answered if nothing else is found."
        })
      )
    ),
    limit: Schema.optionalKey(
      integer(1, 20, 5).pipe(Schema.annotateEncoded({ description: "The number of locations in the answer." }))
    )
  },
  success: Envelope.One(Schema.Array(ServingLocation))
}

/** The schemas of the list of conflicts and gaps of postal codes. */
export const territories = {
  query: {
    kind: Schema.Literals(["conflicts", "gaps"]).annotate({
      description: "`conflicts`: codes that several locations claim; `gaps`: codes that none claims."
    }),
    within: Schema.optionalKey(CodesWithin),
    countryCode: Schema.optionalKey(CountryCode),
    ...pages
  },
  success: Envelope.Page(Schema.Union([TerritoryConflict, TerritoryGap]))
}
