import { earthRadius, type Bounds, type Point } from "../../domain/locations/Area.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import type { Walk } from "../../sql/View.ts"

const place = sql.literal("point(t.longitude, t.latitude)")

const number = (value: number) => sql`${String(value)}::float8`

/** The straight line to a place through a sphere of radius 1, which grows with the distance along the surface. */
export const chordTo = ({ latitude, longitude }: Point): Fragment =>
  sql`waypost_chord(t.latitude, t.longitude, ${number(latitude)}, ${number(longitude)})`

/** The distance along the surface in whole metres; null for a location without coordinates, which `least` would ignore. */
export const metresTo = (point: Point): Fragment =>
  sql`case when t.latitude is not null
    then round(${sql.literal(String(2 * earthRadius))} * asin(least(${chordTo(point)} / 2, 1)))::bigint end`

const radians = (degrees: number) => (degrees * Math.PI) / 180

/** Whether a location is in the box around the places at most a chord away, which the index finds. */
const isAround = ({ latitude, longitude }: Point, chord: Fragment) =>
  sql`${place} <@ waypost_box(${number(latitude)}, ${number(longitude)}, ${chord})`

/** A place as the other side of the date line counts its degrees. */
const fromOtherSide = ({ latitude, longitude }: Point): Point => ({
  latitude,
  longitude: longitude < 0 ? longitude + 360 : longitude - 360
})

/** Whether the places within an angle of one are on both sides of the date line, and no pole is among them. */
const crossesDateLine = ({ latitude, longitude }: Point, angle: number) => {
  const toLine = radians(180 - Math.abs(longitude))
  const toPole = radians(90 - Math.abs(latitude))
  return (
    angle < toPole && toLine < Math.PI / 2 && Math.sin(angle) >= Math.cos(radians(latitude)) * Math.sin(toLine) * 0.999
  )
}

/** Whether a location is within some metres. */
export const isNear = (point: Point, metres: number | undefined): Fragment => {
  if (metres === undefined) return sql`t.latitude is not null`
  const chord = number(2 * Math.sin(metres / (2 * earthRadius)))
  const boxes = [point, ...(crossesDateLine(point, metres / earthRadius) ? [fromOtherSide(point)] : [])]
  return sql`(${sql.or(boxes.map((from) => isAround(from, chord)))} and ${chordTo(point)} <= ${chord})`
}

/** The order of degrees, in which the index has places, nearly is that of distances. */
export const walkTo = (point: Point): Walk => ({
  order: sql`${place} <-> point(${number(point.longitude)}, ${number(point.latitude)})`,
  isWithin: (chord) => sql`(${isAround(point, chord)} or ${isAround(fromOtherSide(point), chord)})`
})

/** Whether a location is within bounds; one on the date line has either of two degrees. */
export const isWithin = ({ east, north, south, west }: Bounds): Fragment => {
  const between = (from: number, to: number) =>
    sql`${place} <@ box(point(${number(from)}, ${number(south)}), point(${number(to)}, ${number(north)}))`
  if (west > east) return sql`(${between(west, 180)} or ${between(-180, east)})`
  return sql`(${sql.or([
    between(west, east),
    ...(west === -180 && east < 180 ? [between(180, 180)] : []),
    ...(east === 180 && west > -180 ? [between(-180, -180)] : [])
  ])})`
}
