import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A row is an active module. What it points at is kept as uuids only and joined when it is read.
  yield* sql`
    create table product_modules (
      product_uuid uuid not null,
      module text not null collate "C",
      settings jsonb not null,
      edited_at timestamptz(3) not null default now(),
      primary key (product_uuid, module),
      constraint product_modules_product foreign key (product_uuid) references products (uuid) on delete cascade
    )`

  yield* sql`
    create table product_reservations (
      uuid uuid primary key,
      product_uuid uuid not null references products (uuid) on delete cascade,
      location_uuid uuid not null references locations (uuid) on delete cascade,
      starts_at timestamptz(3) not null,
      ends_at timestamptz(3) not null,
      quantity int not null,
      status text not null collate "C",
      constraint product_reservations_in_order check (starts_at < ends_at),
      constraint product_reservations_quantity check (quantity > 0),
      constraint product_reservations_status check (status in ('held', 'confirmed'))
    )`
  yield* sql`create index product_reservations_upcoming on product_reservations (product_uuid, starts_at, ends_at)`
  yield* sql`create index product_reservations_location on product_reservations (location_uuid)`
})
