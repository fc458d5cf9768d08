import { Schema } from "effect"
import { parameter } from "../query/Parameter.ts"

/** A place on the earth, in degrees. */
export interface Point {
  readonly latitude: number
  readonly longitude: number
}

/** Between two parallels, from a meridian to the east as far as another one; it crosses the date line if west > east. */
export interface Bounds {
  readonly south: number
  readonly west: number
  readonly north: number
  readonly east: number
}

/** The radius of the sphere on which distances are measured, in metres. */
export const earthRadius = 6_371_008.8

const maxRadius = 20_000_000

const number = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i

/** The number of a text as programs print it, `1e-7` as well. */
const numberOf = (text: string): number => (number.test(text.trim()) ? Number(text) : Number.NaN)

/** Degrees, rounded to a tenth of a nanometre: the square of a number such as 1e-200 is out of range in PostgreSQL. */
const degrees = (text: string, maximum: number): number => {
  const value = Number(numberOf(text).toFixed(15))
  return Math.abs(value) <= maximum ? value : Number.NaN
}

const metresIn: Readonly<Record<string, number>> = { m: 1, km: 1000, mi: 1609.344 }

export const Near = parameter<Point>({
  type: Schema.Struct({ latitude: Schema.Finite, longitude: Schema.Finite }),
  expected: "a latitude from -90 to 90 and a longitude from -180 to 180",
  description:
    "A place as `latitude,longitude`: the nearest locations first, each with its `distanceMetres`. Those without coordinates are left out.",
  example: "52.0907,5.1214",
  parse: (text) => {
    const [first = "", second = "", ...rest] = text.split(",")
    const [latitude, longitude] = [degrees(first, 90), degrees(second, 180)]
    return rest.length > 0 || Number.isNaN(latitude + longitude) ? undefined : { latitude, longitude }
  },
  print: ({ latitude, longitude }) => `${latitude},${longitude}`
})

export const Radius = parameter<{ readonly metres: number }>({
  type: Schema.Struct({ metres: Schema.Finite }),
  expected: `a number above 0 with a unit, m, km or mi, up to ${(maxRadius / 1000).toLocaleString("en")} km`,
  description: "How far the locations of `near` are at most, in `m`, `km` or `mi`.",
  example: "5km",
  parse: (text) => {
    const [, value = "", unit = ""] = /^(.*?)(km|mi|m)$/.exec(text.trim()) ?? []
    const metres = numberOf(value) * (metresIn[unit] ?? Number.NaN)
    return metres > 0 && metres <= maxRadius ? { metres } : undefined
  },
  print: ({ metres }) => `${metres}m`
})

export const Within = parameter<Bounds>({
  type: Schema.Struct({
    south: Schema.Finite,
    west: Schema.Finite,
    north: Schema.Finite,
    east: Schema.Finite
  }),
  expected: "south,west,north,east in degrees, south not above north",
  description:
    "The locations between south and north, from west to east, as `south,west,north,east` in degrees. From a west that is more than the east, it crosses the date line.",
  example: "50.7,3.3,53.6,7.2",
  parse: (text) => {
    const parts = text.split(",")
    const [south, north] = [degrees(parts[0] ?? "", 90), degrees(parts[2] ?? "", 90)]
    const [west, east] = [degrees(parts[1] ?? "", 180), degrees(parts[3] ?? "", 180)]
    return parts.length !== 4 || Number.isNaN(south + west + north + east) || south > north
      ? undefined
      : { south, west, north, east }
  },
  print: ({ east, north, south, west }) => [south, west, north, east].join(",")
})
