import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table locations (
      uuid uuid primary key,
      name text not null collate "C",
      identifier text not null collate "C",
      postal_codes text[] not null default '{}',
      address jsonb,
      legal jsonb,
      invoice jsonb,
      contact jsonb,
      coordinates jsonb,
      locale text collate "C",
      other jsonb,
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now(),
      constraint locations_identifier_key unique (identifier),
      constraint locations_coordinates_complete check ((coordinates ? 'latitude') = (coordinates ? 'longitude'))
    )`

  // One index per sortable field, ending in the uuid. Where the value may be absent, rows without it come last in both
  // orders, which one index read backwards cannot give.
  yield* sql.unsafe(`create index locations_name on locations (name collate "und-x-icu", uuid)`)
  yield* sql.unsafe(`create index locations_identifier on locations (identifier collate "und-x-icu", uuid)`)
  yield* sql`create index locations_created_at on locations (created_at, uuid)`
  yield* sql`create index locations_edited_at on locations (edited_at, uuid)`
  for (const [name, key] of [
    ["city", "(address->>'city')"],
    ["country_code", "(address->>'countryCode')"],
    ["locale", "locale"]
  ] as const) {
    yield* sql.unsafe(`create index locations_${name}_asc on locations (${key} collate "und-x-icu", uuid)`)
    yield* sql.unsafe(
      `create index locations_${name}_desc on locations (${key} collate "und-x-icu" desc nulls last, uuid desc)`
    )
  }

  // Finds identifiers that differ only by case, at every write of one.
  yield* sql`create index locations_identifier_folded on locations (waypost_fold(identifier))`

  // Serves contains, startsWith and endsWith from three characters on.
  yield* sql`
    create index locations_trigrams on locations using gin (
      waypost_fold(name) gin_trgm_ops,
      waypost_fold(identifier) gin_trgm_ops,
      waypost_fold(address->>'city') gin_trgm_ops
    ) with (gin_pending_list_limit = 512)`
  yield* sql`create index locations_postal_codes on locations using gin (postal_codes)`
  yield* sql`call waypost_count('locations')`
})
