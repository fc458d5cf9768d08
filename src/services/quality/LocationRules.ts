import { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js"
import { postcodeValidator, postcodeValidatorExistsForCountry } from "postcode-validator"
import type { QualityIssue, QualityRule } from "../../domain/quality/LocationQuality.ts"
import type { LocationFacts } from "../../repositories/quality/LocationFacts.ts"
import { isOutside } from "./Outlines.ts"

interface Rule {
  readonly rule: QualityRule
  /** The member that breaks the rule, if one does. */
  readonly broken: (facts: LocationFacts) => string | false
  readonly message: string
}

/** The distance from which coordinates are outside a country, in kilometres. */
const border = 25

const when = (condition: boolean, path: string) => condition && path

const hasZipcodeOfCountry = ({ address }: LocationFacts) => {
  const { countryCode = "", zipcode } = address ?? {}
  return (
    zipcode === undefined ||
    !postcodeValidatorExistsForCountry(countryCode) ||
    postcodeValidator(zipcode.trim().toUpperCase(), countryCode)
  )
}

/** A number in national form has no calling code, and is of the country. */
const isOfCountry = (phone: string | undefined, country: string | undefined) => {
  if (phone === undefined || country === undefined || !isSupportedCountry(country)) return true
  const found = parsePhoneNumberFromString(phone, { defaultCountry: country, extract: false })
  return found === undefined || found.countryCallingCode === getCountryCallingCode(country)
}

const foreignPhone = ({ address, contact }: LocationFacts) =>
  (["phone", "mobile"] as const)
    .filter((member) => !isOfCountry(contact?.[member], address?.countryCode))
    .map((member) => `contact.${member}`)[0] ?? false

const isAbroad = ({ address, coordinates }: LocationFacts) =>
  coordinates !== null &&
  address?.countryCode !== undefined &&
  isOutside(address.countryCode, [coordinates.longitude, coordinates.latitude], border)

/** The rules, in the order of the issues. */
const rules: ReadonlyArray<Rule> = [
  {
    rule: "missingPhone",
    broken: ({ contact }) => when(contact?.phone === undefined, "contact.phone"),
    message: "There is no phone number"
  },
  {
    rule: "missingEmail",
    broken: ({ contact }) => when(contact?.email === undefined, "contact.email"),
    message: "There is no e-mail address"
  },
  {
    rule: "missingAddress",
    broken: ({ address }) => when(address?.addressLine1 === undefined || address.city === undefined, "address"),
    message: "The address has no street or no city"
  },
  {
    rule: "missingCoordinates",
    broken: ({ coordinates }) => when(coordinates === null, "coordinates"),
    message: "There are no coordinates"
  },
  {
    rule: "zipcodeFormat",
    broken: (facts) => when(!hasZipcodeOfCountry(facts), "address.zipcode"),
    message: "The zip code does not have the form of the country"
  },
  { rule: "phoneCountry", broken: foreignPhone, message: "The calling code is not that of the country of the address" },
  {
    rule: "coordinatesOutsideCountry",
    broken: (facts) => when(isAbroad(facts), "coordinates"),
    message: "The coordinates are more than 25 km outside the country of the address"
  },
  {
    rule: "duplicateAddress",
    broken: ({ sharesAddress }) => when(sharesAddress, "address"),
    message: "Another location has this street and zip code"
  },
  {
    rule: "duplicateCoordinates",
    broken: ({ sharesCoordinates }) => when(sharesCoordinates, "coordinates"),
    message: "Another location is less than 10 m away"
  },
  {
    rule: "missingInvoice",
    broken: ({ invoice }) => when(invoice === null || Object.keys(invoice).length === 0, "invoice"),
    message: "There are no invoice details"
  },
  {
    rule: "missingPostalCodes",
    broken: ({ hasPostalCodes }) => when(!hasPostalCodes, "postalCodes"),
    message: "There are no postal codes"
  },
  {
    rule: "territoryConflict",
    broken: ({ sharesTerritory }) => when(sharesTerritory, "postalCodes"),
    message: "Another location of the country claims the same postal code, one that contains it, or one within it"
  },
  { rule: "missingLogo", broken: ({ hasLogo }) => when(!hasLogo, "media.logo"), message: "There is no logo" }
]

/** What is wrong with the data of a location. */
export const issuesOf = (facts: LocationFacts): ReadonlyArray<QualityIssue> =>
  rules.flatMap(({ broken, message, rule }) => {
    const path = broken(facts)
    return path === false ? [] : [{ rule, path, message }]
  })
