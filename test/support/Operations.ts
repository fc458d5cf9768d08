import type { Request } from "autocannon"
import { createHash } from "node:crypto"

export const names = ["get", "list", "filter", "patch", "create"] as const
export type Name = (typeof names)[number]

/** The requests of a measured operation. */
export interface Operation<Named extends string = Name> {
  readonly name: Named
  readonly method: "GET" | "PATCH" | "POST"
  readonly status: number
  /** For one slice: returns the requests that each connection in turn repeats. */
  requests(connections: number): () => ReadonlyArray<Request>
}

export interface Rows {
  readonly uuids: ReadonlyArray<string>
  readonly brands: ReadonlyArray<string>
}

/** A list in the default order, newest first, with its exact total. */
export const listPath = "/v1/locations?limit=25"

export const filterPath = (brand: string) =>
  `/v1/locations?filter=${encodeURIComponent(`name:contains:${brand}`)}&sortBy=name&sortOrder=asc&limit=25`

export const locationPath = (uuid: string) => `/v1/locations/${uuid}`

/** A location with every kind of member, at a place that depends on its identifier, as places of seeded ones differ. */
export const newLocation = (identifier: string) => {
  const random = createHash("md5").update(identifier).digest()
  const digits = 1000 + (random.readUInt16BE(0) % 9000)
  const degrees = (least: number, range: number, place: number) =>
    Number((least + (range * random.readUInt32BE(place)) / 2 ** 32).toFixed(6))
  return {
    name: "Bakkerij Nieuw, Utrecht",
    identifier,
    postalCodes: [`${digits} AB`, `${1000 + (random.readUInt16BE(2) % 9000)} CD`],
    address: {
      addressLine1: `Oudegracht ${1 + random.readUInt8(4)}`,
      city: "Utrecht",
      countryCode: "NL",
      zipcode: `${digits} AB`
    },
    invoice: { name: "Nieuw BV", email: "invoice@example.com", address: { city: "Utrecht", countryCode: "NL" } },
    contact: { email: "utrecht@example.com", website: "https://example.com/utrecht", phone: "+31 30 123 45 67" },
    coordinates: {
      latitude: degrees(51, 2, 5),
      longitude: degrees(4, 3, 9)
    },
    locale: "nl-NL",
    other: { extraDna1: "Open from 9 to 18" }
  }
}

/** Gives each connection its own share of the values. */
const shared = <A>(values: ReadonlyArray<A>, connections: number, max: number) => {
  const size = Math.max(1, Math.min(max, Math.floor(values.length / connections)))
  let connection = 0
  return () => {
    const from = (connection++ * size) % values.length
    return values.slice(from, from + size)
  }
}

/** An operation that reads the paths repeatedly. */
export const reading = <Named extends string>(name: Named, paths: ReadonlyArray<string>): Operation<Named> => ({
  name,
  method: "GET",
  status: 200,
  requests: (connections) => {
    const share = shared(paths, connections, 64)
    return () => share().map((path) => ({ method: "GET", path }))
  }
})

export const make = ({ brands, uuids }: Rows): Readonly<Record<Name, Operation>> => {
  let slice = 0
  const patch: Operation = {
    name: "patch",
    method: "PATCH",
    status: 200,
    requests: (connections) => {
      const share = shared(uuids, connections, 64)
      const round = ++slice
      // Two alternating values, different in every slice: each request changes its row, and connections share no row.
      return () => {
        const own = share()
        return ["a", "b"].flatMap((turn) =>
          own.map((uuid) => ({
            method: "PATCH",
            path: locationPath(uuid),
            body: JSON.stringify({
              contact: { phone: `+31 30 ${1_000_000 + round}`, mobile: turn === "a" ? "+31 6 1234 5678" : null },
              other: { extraDna3: `Changed in round ${round}, turn ${turn}` }
            })
          }))
        )
      }
    }
  }

  const create: Operation = {
    name: "create",
    method: "POST",
    status: 201,
    requests: () => {
      const round = ++slice
      let number = 0
      const setupRequest = (request: Request) => ({
        ...request,
        body: JSON.stringify(newLocation(`new-${process.pid}-${round}-${number++}`))
      })
      return () => [{ method: "POST", path: "/v1/locations", setupRequest }]
    }
  }

  return {
    get: reading("get", uuids.map(locationPath)),
    list: reading("list", [listPath]),
    filter: reading("filter", brands.map(filterPath)),
    patch,
    create
  }
}
