import { earthRadius, type Bounds, type Point } from "../../domain/locations/Area.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

/** A place on a sphere of radius 1, as `waypost_position` computes it. */
const positionOf = ({ latitude, longitude }: Point) =>
  sql`waypost_position(${String(latitude)}::float8, ${String(longitude)}::float8)`

/** The straight line to a place, which grows with the distance along the surface; the order of an index scan. */
export const chordTo = (point: Point): Fragment => sql`(t.sphere_position <-> ${positionOf(point)})`

/** The distance along the surface in whole metres. */
export const metresTo = (point: Point): Fragment =>
  sql`round(${sql.literal(String(2 * earthRadius))} * asin(least(${chordTo(point)} / 2, 1)))::bigint`

/** The straight line between two places at a distance of some metres along the surface. */
const chordOf = (metres: number) => 2 * Math.sin(metres / (2 * earthRadius))

/** More than the rounding of coordinates on the sphere, and less than a millimetre. */
const slack = 1e-11

/** Whether a location is within some metres; the box lets the index find candidates. */
export const isNear = (point: Point, metres: number | undefined): Fragment => {
  if (metres === undefined) return sql`t.sphere_position is not null`
  const chord = String(chordOf(metres))
  return sql`(t.sphere_position <@ cube_enlarge(${positionOf(point)}, ${String(chordOf(metres) + slack)}::float8, 3)
    and ${chordTo(point)} <= ${chord}::float8)`
}

const radians = (degrees: number) => (degrees * Math.PI) / 180

/** The least and the greatest cosine of the angles from one to another, eastwards, in degrees. */
const cosines = (from: number, to: number): readonly [least: number, greatest: number] => {
  const end = to < from ? to + 360 : to
  const includes = (angle: number) => [angle - 360, angle, angle + 360].some((turn) => from <= turn && turn <= end)
  const ends = [Math.cos(radians(from)), Math.cos(radians(to))]
  return [includes(180) ? -1 : Math.min(...ends), includes(0) ? 1 : Math.max(...ends)]
}

/** Whether a location is within bounds; the box that encloses them on the sphere lets the index find candidates. */
export const isWithin = ({ east, north, south, west }: Bounds): Fragment => {
  const ends = [Math.cos(radians(south)), Math.cos(radians(north))]
  const [least, greatest] = [Math.min(...ends), south <= 0 && north >= 0 ? 1 : Math.max(...ends)]
  const across = ([low, high]: readonly [number, number]) => [
    low * (low < 0 ? greatest : least) - slack,
    high * (high < 0 ? least : greatest) + slack
  ]
  const [x1, x2] = across(cosines(west, east))
  // The sine of an angle is the cosine of the one a quarter of a turn before.
  const [y1, y2] = across(cosines(west - 90, east < west ? east + 270 : east - 90))
  const corner = (values: ReadonlyArray<number | undefined>) => sql`${values.map(String)}::text[]::float8[]`
  const low = corner([x1, y1, Math.sin(radians(south)) - slack])
  const high = corner([x2, y2, Math.sin(radians(north)) + slack])
  const between = (column: string, from: number, to: number) =>
    sql`${sql.literal(`t.${column}`)} between ${String(from)}::float8 and ${String(to)}::float8`
  const meridians =
    west <= east
      ? between("longitude", west, east)
      : sql`(${between("longitude", west, 180)} or ${between("longitude", -180, east)})`
  return sql`(t.sphere_position <@ cube(${low}, ${high}) and ${between("latitude", south, north)} and ${meridians})`
}
