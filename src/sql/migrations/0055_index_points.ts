import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Pages of cubes that are points are split into one entry and all others, so that places along a street took milliseconds
  // and more than a page each.
  // With all that a search of places compares and sorts by unless it asks for more, so that it reads no rows.
  yield* sql`
    create index locations_place on locations using gist (point(longitude, latitude)) include (uuid, latitude, longitude, created_at)`

  // Twice the sine of half the angle between two places.
  yield* sql.unsafe(`
    create function waypost_chord(latitude float8, longitude float8, other_latitude float8, other_longitude float8) returns float8
    language sql immutable strict parallel safe
    return 2 * sqrt(sin(radians(latitude - other_latitude) / 2) ^ 2
      + cos(radians(latitude)) * cos(radians(other_latitude)) * sin(radians(longitude - other_longitude) / 2) ^ 2)`)

  // The degrees that enclose all places at most a chord away, and a metre more: near an argument of 1, the error of an arcsine is
  // a tenth of a metre. They pass 180 at the date line.
  yield* sql.unsafe(`
    create function waypost_box(latitude float8, longitude float8, chord float8) returns box
    language plpgsql immutable strict parallel safe as $$
    declare
      angle float8 := degrees(2 * asin(least(1, chord / 2))) + 1e-5;
      width float8 := 360;
    begin
      if abs(latitude) + angle < 90 then
        width := degrees(asin(least(1, sin(radians(angle)) / cos(radians(latitude))))) + 1e-5;
      end if;
      return box(point(longitude - width, latitude - angle), point(longitude + width, latitude + angle));
    end $$`)

  // Last, because reads of locations wait from here to the end. The column stays for the version before, whose searches have no
  // index while its last nodes run.
  yield* sql`drop index locations_sphere_position`
})
