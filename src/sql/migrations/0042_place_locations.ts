import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`create extension if not exists cube`

  // The place on a sphere of radius 1, on which the nearest by a straight line is the nearest along the surface, and
  // neither the poles nor the date line are special.
  yield* sql.unsafe(`create function waypost_position(latitude float8, longitude float8) returns cube
    language sql immutable strict parallel safe
    return cube(array[cos(radians(latitude)) * cos(radians(longitude)), cos(radians(latitude)) * sin(radians(longitude)),
      sin(radians(latitude))])`)

  yield* sql`
    alter table locations
      add column latitude float8 generated always as ((coordinates->>'latitude')::float8) stored,
      add column longitude float8 generated always as ((coordinates->>'longitude')::float8) stored,
      add column sphere_position cube generated always as (
        waypost_position((coordinates->>'latitude')::float8, (coordinates->>'longitude')::float8)) stored`
  // With all that a search of places compares and sorts by unless it asks for more, so that it reads no rows.
  yield* sql`create index locations_sphere_position on locations using gist (sphere_position) include (uuid, latitude, longitude, created_at)`
  yield* sql`
    call waypost_log_table('locations', 'location',
      '{city,country_code,has_media,week_minutes,special_minutes,latitude,longitude,sphere_position}')`
})
