import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The answers to requests with an `Idempotency-Key`. The owner is the key that made the request, or the first of those that
  // were rotated into it.
  yield* sql`
    create table idempotent_answers (
      owner uuid not null,
      key text not null collate "C",
      fingerprint bytea not null,
      status smallint not null,
      headers jsonb not null,
      body text not null,
      created_at timestamptz(3) not null default now(),
      primary key (owner, key)
    )`
  yield* sql`create index idempotent_answers_created_at on idempotent_answers (created_at)`
})
