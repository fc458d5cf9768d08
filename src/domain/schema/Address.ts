import { Schema, Struct } from "effect"
import { CountryCode } from "./Country.ts"
import { text } from "./Fields.ts"

/** A postal address; every line is optional. */
export const Address = Schema.Struct(
  Struct.map(
    {
      addressLine1: text(255).pipe(Schema.annotateEncoded({ examples: ["Oudegracht 158"] })),
      addressLine2: text(255),
      attentionOf: text(255),
      city: text(120).pipe(Schema.annotateEncoded({ examples: ["Utrecht"] })),
      zone: text(120).pipe(Schema.annotateEncoded({ description: "State, province or region." })),
      countryCode: CountryCode,
      zipcode: text(16).pipe(Schema.annotateEncoded({ examples: ["3511 AZ"] }))
    },
    Schema.optionalKey
  )
).annotate({ identifier: "Address" })
