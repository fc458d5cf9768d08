import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table asset_categories (
      uuid uuid primary key,
      key text not null collate "C",
      translations jsonb not null,
      parent_uuid uuid constraint asset_categories_parent references asset_categories (uuid),
      position int not null,
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now(),
      constraint asset_categories_key_key unique (key)
    )`
  yield* sql`create index asset_categories_parent_uuid on asset_categories (parent_uuid)`

  // Two moves could each be right and make a circle together, so that one comes after the other. The lock is taken
  // before any row is, and what is read after it is what the other one wrote.
  yield* sql.unsafe(`
    create function waypost_move_category() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtext('waypost'), hashtext('asset_categories'));
      return null;
    end $$`)
  yield* sql.unsafe(`
    create function waypost_category_parent() returns trigger language plpgsql as $$
    begin
      if exists (
        with recursive above as (
          select new.parent_uuid as uuid
          union
          select c.parent_uuid from asset_categories c join above a on c.uuid = a.uuid
        ) select from above where uuid = new.uuid
      ) then
        raise exception 'A category cannot stand below itself'
          using errcode = 'check_violation', constraint = 'asset_categories_no_cycle';
      end if;
      return null;
    end $$`)
  yield* sql`create trigger one_move_at_a_time before update of parent_uuid on asset_categories
    for each statement execute function waypost_move_category()`
  yield* sql`create trigger no_cycle after insert or update of parent_uuid on asset_categories
    for each row when (new.parent_uuid is not null) execute function waypost_category_parent()`

  yield* sql`
    create table meta_tag_definitions (
      uuid uuid primary key,
      key text not null collate "C",
      translations jsonb not null,
      type text not null collate "C",
      required boolean not null,
      filterable boolean not null,
      searchable boolean not null,
      editable boolean not null,
      form_group jsonb,
      default_value jsonb,
      validation jsonb,
      options jsonb not null,
      position int not null,
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now(),
      constraint meta_tag_definitions_key_key unique (key)
    )`
  // No category means all of them: one that a definition applies to cannot just disappear.
  yield* sql`
    create table meta_tag_categories (
      definition_uuid uuid not null references meta_tag_definitions (uuid) on delete cascade,
      category_uuid uuid not null constraint meta_tag_categories_category references asset_categories (uuid) on delete restrict,
      primary key (definition_uuid, category_uuid)
    )`
  yield* sql`create index meta_tag_categories_category on meta_tag_categories (category_uuid)`

  for (const [table, texts] of [
    ["asset_categories", ["key"]],
    ["meta_tag_definitions", ["key", "type"]]
  ] as const) {
    for (const column of texts) {
      yield* sql.unsafe(`create index ${table}_${column} on ${table} (${column} collate "und-x-icu", uuid)`)
    }
    for (const column of ["position", "created_at", "edited_at"]) {
      yield* sql.unsafe(`create index ${table}_${column} on ${table} (${column}, uuid)`)
    }
    yield* sql.unsafe(`call waypost_count('${table}')`)
  }
})
