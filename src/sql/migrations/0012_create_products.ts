import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The order in which a client names the options of a variant is kept, and does not make another combination.
  yield* sql.unsafe(`
    create function waypost_combination(option_values jsonb) returns text language sql immutable parallel safe strict
    return (select md5(jsonb_object_agg(v->>'option', v->>'value')::text) from jsonb_array_elements(option_values) v)`)

  // Through parent_type, which is only there with a parent, the reference holds that a parent is a variantParent.
  yield* sql`
    create table products (
      uuid uuid primary key,
      type text not null collate "C",
      identifier text not null collate "C",
      name text not null collate "C",
      description text collate "C",
      translations jsonb not null default '[]',
      status text not null collate "C",
      categories text[] not null default '{}',
      tags text[] not null default '{}',
      visible_from timestamptz(3),
      visible_until timestamptz(3),
      position int not null,
      parent_uuid uuid,
      parent_type text collate "C" generated always as (case when parent_uuid is not null then 'variantParent' end) stored,
      option_values jsonb,
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now(),
      constraint products_identifier_key unique (identifier),
      constraint products_uuid_type_key unique (uuid, type),
      constraint products_parent foreign key (parent_uuid, parent_type) references products (uuid, type),
      constraint products_visible check (visible_from < visible_until),
      constraint products_variant_parent check ((type = 'variant') = (parent_uuid is not null)),
      constraint products_variant_options check ((type = 'variant') = (option_values is not null))
    )`
  yield* sql`
    create unique index products_combination_key on products (parent_uuid, waypost_combination(option_values))
    where type = 'variant'`

  // What depends on the old row is held here, where that is known under the row's lock.
  yield* sql.unsafe(`
    create function waypost_product_moves() returns trigger language plpgsql as $$
    begin
      if old.type <> new.type then
        raise exception 'The type of a product cannot change'
          using errcode = 'check_violation', constraint = 'products_type_immutable';
      end if;
      if old.status <> new.status and (old.status, new.status) not in
          (('draft', 'published'), ('published', 'archived'), ('archived', 'draft')) then
        raise exception 'A product cannot move from % to %', old.status, new.status
          using errcode = 'check_violation', constraint = 'products_status_move';
      end if;
      return new;
    end $$`)
  yield* sql`
    create trigger moves before update of type, status on products for each row
    when (old.status is distinct from new.status or old.type is distinct from new.type)
    execute function waypost_product_moves()`

  // The parent's lock makes two new variants wait for each other, so that together they cannot pass the limit.
  yield* sql.unsafe(`
    create function waypost_count_variants() returns trigger language plpgsql as $$
    begin
      perform from products where uuid = new.parent_uuid for no key update;
      if (select count(*) from products where parent_uuid = new.parent_uuid) >= 2000 then
        raise exception 'A product has at most 2000 variants'
          using errcode = 'check_violation', constraint = 'products_variant_limit';
      end if;
      return new;
    end $$`)
  yield* sql`
    create trigger variants_inserted before insert on products for each row
    when (new.parent_uuid is not null) execute function waypost_count_variants()`
  yield* sql`
    create trigger variants_moved before update of parent_uuid on products for each row
    when (new.parent_uuid is not null and new.parent_uuid is distinct from old.parent_uuid)
    execute function waypost_count_variants()`

  for (const column of ["name", "identifier", "type", "status"]) {
    yield* sql.unsafe(`create index products_${column} on products (${column} collate "und-x-icu", uuid)`)
  }
  for (const column of ["position", "created_at", "edited_at"]) {
    yield* sql.unsafe(`create index products_${column} on products (${column}, uuid)`)
  }
  yield* sql`create index products_parent_uuid on products (parent_uuid, position) where parent_uuid is not null`
  yield* sql`
    create index products_trigrams on products using gin (
      waypost_fold(name) gin_trgm_ops,
      waypost_fold(identifier) gin_trgm_ops
    ) with (gin_pending_list_limit = 512)`
  yield* sql`create index products_categories on products using gin (categories)`
  yield* sql`create index products_tags on products using gin (tags)`
  yield* sql`call waypost_count('products')`
})
