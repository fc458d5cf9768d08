import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table api_keys (
      uuid uuid primary key,
      id text not null collate "C",
      secret_hash bytea not null,
      name text not null collate "C",
      prefix text not null collate "C",
      permissions text[] not null,
      created_at timestamptz(3) not null default now(),
      created_by_key_uuid uuid references api_keys (uuid),
      expires_at timestamptz(3),
      last_used_at timestamptz(3),
      revoked_at timestamptz(3),
      replaced_by_uuid uuid references api_keys (uuid),
      constraint api_keys_id_key unique (id)
    )`
  yield* sql`create index api_keys_created_at on api_keys (created_at, uuid)`
  yield* sql`call waypost_count('api_keys')`
})
