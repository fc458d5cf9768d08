import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What a background job found in the data of each location. Writes of locations do not wait for it.
  yield* sql`
    create table location_quality (
      uuid uuid primary key references locations (uuid) on delete cascade,
      score int not null,
      issues jsonb not null
    )`
  yield* sql`create index location_quality_score on location_quality (score, uuid)`
  yield* sql`call waypost_count('location_quality')`

  // What locations are compared by, and the rules that each breaks. A row outlives its location until the job has seen the
  // deletion, so that the job knows which others were compared with it.
  yield* sql`
    create table location_quality_keys (
      location_uuid uuid primary key,
      address text collate "C",
      -- Ten-thousandths of a degree, 11 m.
      latitude_band int,
      latitude float8,
      longitude float8,
      -- Postal codes with their country, and all codes that contain one of them.
      claims text[] not null,
      containing text[] not null,
      rules text[] not null default '{}'
    )`
  yield* sql`create index location_quality_keys_address on location_quality_keys (address)`
  yield* sql`create index location_quality_keys_place on location_quality_keys (latitude_band, longitude)`
  // Without pending lists, which every lookup would read as a whole.
  yield* sql`create index location_quality_keys_claims on location_quality_keys using gin (claims) with (fastupdate = off)`
  yield* sql`create index location_quality_keys_containing on location_quality_keys using gin (containing) with (fastupdate = off)`

  // Locations to look at. Those of recent changes come before those of the first pass.
  yield* sql`create table stale_location_quality (location_uuid uuid primary key, is_recent boolean not null)`
  yield* sql`create index stale_location_quality_order on stale_location_quality (is_recent desc, location_uuid)`

  // How far the job has followed the log, and the last location of its first pass, which is null when that is done.
  yield* sql`create table location_quality_progress (position bigint not null, last_uuid uuid)`
  yield* sql`
    insert into location_quality_progress (position, last_uuid)
      select position, '00000000-0000-0000-0000-000000000000' from event_log`

  // A British code is contained in its outward code and in the letters that begin it, any other in all that begin it.
  yield* sql.unsafe(`
    create function waypost_containing_codes(country text, code text) returns text[] language sql immutable parallel safe
    return case when country = 'GB' then array_remove(array[code, substring(code from '^([A-Z]{1,2}[0-9][A-Z0-9]?)[0-9][A-Z]{2}$'),
        substring(code from '^[A-Z]{1,2}')], null)
      else array(select left(code, length) from generate_series(2, length(code)) length) end`)
})
