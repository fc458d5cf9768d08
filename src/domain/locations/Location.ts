import { Schema, Struct } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { Address } from "../schema/Address.ts"
import { distinct } from "../schema/Distinct.ts"
import { decimal, Email, formed, Phone, text, Timestamp, UnreadTimestamp, Uuid, WebUrl } from "../schema/Fields.ts"
import { Locale } from "../schema/Locale.ts"
import { LocationMedia, TranslationLabels } from "./LocationMedia.ts"
import { openingMembers } from "./OpeningHours.ts"
import { allNotFound, manyNotFoundError, notFound } from "../write/NotFound.ts"
import { ignored, readOnly, writtenAs } from "../write/Markers.ts"
import * as Shape from "../write/Shape.ts"

export const LocationId = Uuid.pipe(Schema.brand("LocationId"))
export type LocationId = typeof LocationId.Type

const PostalCode = formed(16, {
  min: 2,
  pattern: /^[A-Za-z0-9 -]*$/,
  expected: "letters, digits, spaces and hyphens only",
  example: "3511 AB"
})

/** The catchment area of a branch; duplicates are removed, the order is kept. */
const PostalCodes = distinct(PostalCode, 1000, "postal codes")

/** A field whose meaning the customer decides, for example the opening hours as printed on a flyer. */
const Dna = text(1000, { multiline: true })

/** A time that the server sets. A write ignores it, but a malformed one is an error: other read-only members may be anything. */
const SetTime = readOnly(Timestamp).pipe(writtenAs(ignored(Timestamp, UnreadTimestamp)))

/** A branch, as the API answers it. */
export const Location = Schema.Struct({
  uuid: readOnly(LocationId),
  name: text(255).pipe(Schema.annotateEncoded({ examples: ["Bakkerij De Vries, Utrecht"] })),
  identifier: text(100).pipe(
    Schema.annotateEncoded({
      description: "Unique among locations, case-sensitive.",
      examples: ["UTR-001"]
    })
  ),
  postalCodes: PostalCodes,
  address: Schema.optionalKey(Address),
  legal: Schema.optionalKey(Schema.Struct({ address: Schema.optionalKey(Address) })),
  invoice: Schema.optionalKey(
    Schema.Struct(
      Struct.map(
        {
          name: text(255),
          email: Email,
          address: Address
        },
        Schema.optionalKey
      )
    )
  ),
  contact: Schema.optionalKey(
    Schema.Struct(
      Struct.map(
        {
          email: Email,
          website: WebUrl,
          phone: Phone,
          mobile: Phone,
          firstName: text(100)
        },
        Schema.optionalKey
      )
    )
  ),
  coordinates: Schema.optionalKey(
    Schema.Struct({
      latitude: decimal(-90, 90, 7).annotate({ examples: [52.0907374] }),
      longitude: decimal(-180, 180, 7).annotate({ examples: [5.1214201] })
    })
  ),
  locale: Schema.optionalKey(Locale),
  other: Schema.optionalKey(
    Schema.Struct(
      Struct.map(
        {
          extraDna1: Dna,
          extraDna2: Dna,
          extraDna3: Dna,
          extraDna4: Dna,
          extraDna5: Dna,
          extraDna6: Dna,
          extraDna7: Dna,
          extraDna8: Dna,
          extraDna9: Dna,
          extraDna10: Dna
        },
        Schema.optionalKey
      )
    )
  ),
  ...openingMembers,
  // Operations of their own write these two.
  media: readOnly(LocationMedia),
  translationLabels: readOnly(TranslationLabels),
  createdAt: SetTime,
  editedAt: SetTime
}).annotate({ identifier: "LocationRecord" })
export type Location = typeof Location.Type

export const LocationCreate = Shape.create(Location).annotate({ identifier: "LocationCreate" })
export type LocationCreate = typeof LocationCreate.Type

/** What changes a location: absent members stay unchanged, `null` clears, nested objects merge. */
export const PartialLocation = Shape.patch(Location).annotate({ identifier: "PartialLocation" })
export type PartialLocation = typeof PartialLocation.Type

export class LocationNotFoundError extends ApiError<LocationNotFoundError>()(
  ...manyNotFoundError("LocationNotFoundError")
) {
  static of = (uuid: string) => new LocationNotFoundError(notFound("location", uuid))
  static ofAll = (uuids: ReadonlyArray<string>) => new LocationNotFoundError(allNotFound("location", uuids))
}

export class DuplicateIdentifierError extends ApiError<DuplicateIdentifierError>()(
  "DuplicateIdentifierError",
  { message: Schema.String, identifier: Schema.String },
  { httpApiStatus: 400 }
) {
  static of = (identifier: string) =>
    new DuplicateIdentifierError({ message: `Another record already has the identifier "${identifier}"`, identifier })
}

/** The fields a list of locations can be sorted by; each has an index that ends in the uuid. */
export const sortable = [
  "name",
  "identifier",
  "address.city",
  "address.countryCode",
  "locale",
  "createdAt",
  "editedAt"
] as const
