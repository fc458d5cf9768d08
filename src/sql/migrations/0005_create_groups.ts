import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table groups (
      uuid uuid primary key,
      name text not null collate "C",
      description text collate "C",
      external_id text collate "C",
      user_count int not null default 0,
      location_count int not null default 0,
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now(),
      constraint groups_external_id_key unique (external_id)
    )`
  yield* sql`create unique index groups_name_key on groups (waypost_fold(name))`
  yield* sql`create index groups_name on groups (name collate "und-x-icu", uuid)`
  for (const column of ["user_count", "location_count", "created_at", "edited_at"]) {
    yield* sql.unsafe(`create index groups_${column} on groups (${column}, uuid)`)
  }
  yield* sql`create index groups_trigrams on groups using gin (waypost_fold(name) gin_trgm_ops)`
  yield* sql`call waypost_count('groups')`
})
