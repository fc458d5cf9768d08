import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table users (
      uuid uuid primary key,
      username text not null collate "C",
      email text not null collate "C",
      first_name text collate "C",
      last_name text collate "C",
      status text not null collate "C",
      role text not null collate "C",
      language_code text not null collate "C",
      country_code text collate "C",
      phone text collate "C",
      external_id text collate "C",
      last_login_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now(),
      constraint users_external_id_key unique (external_id)
    )`
  yield* sql`create unique index users_username_key on users (waypost_fold(username))`
  yield* sql`create unique index users_email_key on users (waypost_fold(email))`

  // The moves between states are held here, where the old state is known under the row's lock.
  yield* sql.unsafe(`
    create function waypost_user_status() returns trigger language plpgsql as $$
    begin
      if (old.status, new.status) not in (('pending', 'active'), ('active', 'suspended'), ('suspended', 'active')) then
        raise exception 'A user cannot move from % to %', old.status, new.status
          using errcode = 'check_violation', constraint = 'users_status_move';
      end if;
      return new;
    end $$`)
  yield* sql`
    create trigger status_moves before update of status on users for each row
    when (old.status is distinct from new.status) execute function waypost_user_status()`

  for (const column of ["username", "email", "status"]) {
    yield* sql.unsafe(`create index users_${column} on users (${column} collate "und-x-icu", uuid)`)
  }
  for (const column of ["first_name", "last_name"]) {
    yield* sql.unsafe(`create index users_${column}_asc on users (${column} collate "und-x-icu", uuid)`)
    yield* sql.unsafe(
      `create index users_${column}_desc on users (${column} collate "und-x-icu" desc nulls last, uuid desc)`
    )
  }
  yield* sql`create index users_created_at on users (created_at, uuid)`
  yield* sql`create index users_edited_at on users (edited_at, uuid)`
  yield* sql`
    create index users_trigrams on users using gin (
      waypost_fold(username) gin_trgm_ops,
      waypost_fold(email) gin_trgm_ops,
      waypost_fold(last_name) gin_trgm_ops
    ) with (gin_pending_list_limit = 512)`
  yield* sql`call waypost_count('users')`
})
