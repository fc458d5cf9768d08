import { earthRadius, type Bounds, type Point } from "../../domain/locations/Area.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

/** A place on a sphere of radius 1, as `waypost_position` computes it. */
const positionOf = ({ latitude, longitude }: Point) =>
  sql`waypost_position(${String(latitude)}::float8, ${String(longitude)}::float8)`

/** The straight line to a place, which grows with the distance along the surface; the order of an index scan. */
export const chordTo = (point: Point): Fragment => sql`(t.sphere_position <-> ${positionOf(point)})`

/** The distance along the surface in whole metres; null for a location without coordinates, which `least` would ignore. */
export const metresTo = (point: Point): Fragment =>
  sql`case when t.sphere_position is not null
    then round(${sql.literal(String(2 * earthRadius))} * asin(least(${chordTo(point)} / 2, 1)))::bigint end`

/** The straight line between two places at a distance of some metres along the surface. */
const chordOf = (metres: number) => 2 * Math.sin(metres / (2 * earthRadius))

/** More than the rounding of coordinates on the sphere, and less than a millimetre. */
const slack = 1e-11

const radians = (degrees: number) => (degrees * Math.PI) / 180

/** Whether a place is in a box on the sphere, by which the index finds candidates. */
const isInBox = (low: ReadonlyArray<number>, high: ReadonlyArray<number>) => {
  const corner = (values: ReadonlyArray<number>) => sql`${values.map(String)}::text[]::float8[]`
  return sql`t.sphere_position <@ cube(${corner(low.map((value) => value - slack))}, ${corner(high.map((value) => value + slack))})`
}

/** The corners of the box that encloses all places within an angle of one. A cube around it has half as many more. */
const boxAround = ({ latitude, longitude }: Point, angle: number) => {
  const across = Math.cos(radians(latitude))
  const [x, y, z] = [
    across * Math.cos(radians(longitude)),
    across * Math.sin(radians(longitude)),
    Math.sin(radians(latitude))
  ]
  const axes = [
    [x, Math.hypot(y, z)],
    [y, Math.hypot(x, z)],
    [z, across]
  ] as const
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)]
  // Where an axis itself is within the angle, its end is farthest.
  return [
    axes.map(([along, beside]) => (cosine <= -along ? -1 : along * cosine - beside * sine)),
    axes.map(([along, beside]) => (cosine <= along ? 1 : along * cosine + beside * sine))
  ] as const
}

/** Whether a location is within some metres. */
export const isNear = (point: Point, metres: number | undefined): Fragment => {
  if (metres === undefined) return sql`t.sphere_position is not null`
  return sql`(${isInBox(...boxAround(point, metres / earthRadius))} and ${chordTo(point)} <= ${String(chordOf(metres))}::float8)`
}

/** The least and the greatest cosine of the angles from one to another, eastwards, in degrees. */
const cosines = (from: number, to: number): readonly [least: number, greatest: number] => {
  const end = to < from ? to + 360 : to
  const includes = (angle: number) => [angle - 360, angle, angle + 360].some((turn) => from <= turn && turn <= end)
  const ends = [Math.cos(radians(from)), Math.cos(radians(to))]
  return [includes(180) ? -1 : Math.min(...ends), includes(0) ? 1 : Math.max(...ends)]
}

/** Whether a location is within bounds. */
export const isWithin = ({ east, north, south, west }: Bounds): Fragment => {
  const ends = [Math.cos(radians(south)), Math.cos(radians(north))]
  const [least, greatest] = [Math.min(...ends), south <= 0 && north >= 0 ? 1 : Math.max(...ends)]
  const across = ([low, high]: readonly [number, number]) =>
    [low * (low < 0 ? greatest : least), high * (high < 0 ? least : greatest)] as const
  const [x1, x2] = across(cosines(west, east))
  // The sine of an angle is the cosine of the one a quarter of a turn before.
  const [y1, y2] = across(cosines(west - 90, east < west ? east + 270 : east - 90))
  const box = isInBox([x1, y1, Math.sin(radians(south))], [x2, y2, Math.sin(radians(north))])
  const between = (column: string, from: number, to: number) =>
    sql`${sql.literal(`t.${column}`)} between ${String(from)}::float8 and ${String(to)}::float8`
  const meridians =
    west <= east
      ? between("longitude", west, east)
      : sql`(${between("longitude", west, 180)} or ${between("longitude", -180, east)})`
  return sql`(${box} and ${between("latitude", south, north)} and ${meridians})`
}
