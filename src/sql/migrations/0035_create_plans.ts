import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What files would do to collections, until it is applied or expires. The owner is the key in whose share it counts.
  yield* sql`
    create table plans (
      uuid uuid primary key,
      owner uuid not null,
      resource text not null collate "C",
      mode text not null collate "C",
      options jsonb not null,
      guards jsonb not null default '[]',
      bytes bigint not null default 0,
      is_ready boolean not null default false,
      created_at timestamptz(3) not null default now(),
      applied_at timestamptz(3)
    )`
  yield* sql`create index plans_owner on plans (owner)`
  yield* sql`create index plans_created_at on plans (created_at)`

  // A row of the file, or a record that the file does not name. "compared" is the key as the unique rule compares it, and
  // "edited_at" that of the record when it was compared.
  yield* sql`
    create table plan_rows (
      plan uuid not null references plans on delete cascade,
      place int not null,
      row int,
      key text not null collate "C",
      compared text not null collate "C",
      kind text not null collate "C",
      record uuid,
      edited_at timestamptz(3),
      data jsonb,
      changes jsonb not null,
      issues jsonb,
      primary key (plan, place)
    )`
  yield* sql`create index plan_rows_record on plan_rows (plan, record)`
})
