import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A patch of translations, item by item: a new locale is added, a name of null takes the locale away.
  yield* sql.unsafe(`
    create function waypost_merge_translations(current jsonb, patch jsonb) returns jsonb
    language sql immutable parallel safe as $$
      select coalesce(jsonb_agg(jsonb_strip_nulls(coalesce(old.item, '{}') || coalesce(new.item, '{}'))
        order by coalesce(new.item, old.item)->>'locale' collate "C"), '[]')
      from jsonb_array_elements(current) old(item)
      full join jsonb_array_elements(patch) new(item) on new.item->>'locale' = old.item->>'locale'
      where (new.item->'name') is distinct from 'null'::jsonb
    $$`)
  // The translation of a locale comes first, or else one of its language; the others are sorted by locale.
  yield* sql.unsafe(`
    create function waypost_translations_for(translations jsonb, wanted text) returns jsonb
    language sql immutable parallel safe as $$
      select jsonb_agg(item order by place > 1, item->>'locale' collate "C") from (
        select item, row_number() over (order by item->>'locale' = wanted desc,
          split_part(item->>'locale', '-', 1) = split_part(wanted, '-', 1) desc, item->>'locale' collate "C") as place
        from jsonb_array_elements(translations) item
      ) places
    $$`)

  // What lists show and sort by is copied from the file, which never changes: a page then needs one table.
  yield* sql`
    create table assets (
      uuid uuid primary key,
      file_uuid uuid not null references files (uuid),
      file_name_original text not null collate "C",
      file_extension text not null collate "C",
      file_size bigint not null,
      path_name text not null collate "C",
      url_name text not null collate "C",
      translations jsonb not null,
      name text collate "C" generated always as (translations->0->>'name') stored,
      valid_from timestamptz(3),
      valid_until timestamptz(3),
      focal_point jsonb,
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now(),
      constraint assets_file_uuid_key unique (file_uuid),
      constraint assets_translations_present check (jsonb_array_length(translations) > 0),
      constraint assets_translations_limit check (jsonb_array_length(translations) <= 100),
      constraint assets_translations_named check (not jsonb_path_exists(translations, '$[*] ? (!exists(@.name))')),
      constraint assets_validity check (valid_from < valid_until),
      constraint assets_focal_point_complete check ((focal_point ? 'x') = (focal_point ? 'y'))
    )`
  for (const column of ["name", "file_name_original", "file_extension"]) {
    yield* sql.unsafe(`create index assets_${column} on assets (${column} collate "und-x-icu", uuid)`)
  }
  for (const column of ["file_size", "created_at", "edited_at"]) {
    yield* sql.unsafe(`create index assets_${column} on assets (${column}, uuid)`)
  }
  yield* sql`
    create index assets_trigrams on assets using gin (
      waypost_fold(name) gin_trgm_ops,
      waypost_fold(file_name_original) gin_trgm_ops
    ) with (gin_pending_list_limit = 512)`
  yield* sql`call waypost_count('assets')`

  // A file knows since when nothing has it. Taking it locks its row, so that nobody removes it at the same time.
  yield* sql.unsafe(`
    create function waypost_attach_file() returns trigger language plpgsql as $$
    begin
      update files set unattached_since = null where uuid = new.file_uuid
        returning file_name, extension, size, path_name, url_name
        into new.file_name_original, new.file_extension, new.file_size, new.path_name, new.url_name;
      if not found then
        raise exception 'There is no such file' using errcode = 'check_violation', constraint = 'assets_file_exists';
      end if;
      return new;
    end $$`)
  yield* sql.unsafe(`
    create function waypost_detach_file() returns trigger language plpgsql as $$
    begin
      update files set unattached_since = now() where uuid = old.file_uuid;
      return null;
    end $$`)
  yield* sql`create trigger file_attached before insert or update of file_uuid on assets
    for each row execute function waypost_attach_file()`
  yield* sql`create trigger file_replaced after update of file_uuid on assets
    for each row when (old.file_uuid is distinct from new.file_uuid) execute function waypost_detach_file()`
  yield* sql`create trigger file_detached after delete on assets for each row execute function waypost_detach_file()`

  yield* sql`
    create table asset_category_links (
      asset_uuid uuid not null references assets (uuid) on delete cascade,
      category_uuid uuid not null references asset_categories (uuid) on delete cascade,
      primary key (asset_uuid, category_uuid)
    )`
  yield* sql`create index asset_category_links_category on asset_category_links (category_uuid, asset_uuid)`
  yield* sql`
    create table asset_meta_tags (
      asset_uuid uuid not null references assets (uuid) on delete cascade,
      definition_uuid uuid not null references meta_tag_definitions (uuid) on delete cascade,
      value jsonb not null,
      primary key (asset_uuid, definition_uuid)
    )`
  yield* sql`create index asset_meta_tags_definition on asset_meta_tags (definition_uuid, asset_uuid)`
})
