import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table location_media (
      uuid uuid primary key,
      location_uuid uuid not null references locations (uuid) on delete cascade,
      asset_uuid uuid references assets (uuid) on delete cascade,
      file_uuid uuid references files (uuid),
      is_logo boolean not null,
      role text not null collate "C",
      position int not null,
      labels jsonb not null,
      constraint location_media_source check (num_nonnulls(asset_uuid, file_uuid) = 1),
      constraint location_media_position_key unique (location_uuid, is_logo, position)
    )`
  yield* sql`create index location_media_asset on location_media (asset_uuid) where asset_uuid is not null`
  yield* sql`create index location_media_file on location_media (file_uuid) where file_uuid is not null`

  // Few locations have media: the others are read without looking for it.
  yield* sql`
    alter table locations
      add column has_media boolean not null default false,
      add column translation_labels jsonb not null default '[]'`

  yield* sql.unsafe(`
    create function waypost_location_media(location uuid, origin text, cdn text) returns jsonb
    language sql stable parallel safe as $$
      select jsonb_build_object('items', '[]'::jsonb) || coalesce(jsonb_object_agg(kind, content), '{}') from (
        select case when m.is_logo then 'logo' else 'items' end as kind,
          case when m.is_logo then jsonb_agg(item)->0 else jsonb_agg(item order by m.position) end as content
        from location_media m
        left join assets a on a.uuid = m.asset_uuid
        join files f on f.uuid = coalesce(m.file_uuid, a.file_uuid),
        lateral (select jsonb_strip_nulls(jsonb_build_object(
          'uuid', m.uuid, 'assetUuid', m.asset_uuid, 'fileUuid', m.file_uuid, 'role', m.role,
          'type', case when f.mime_type like 'image/%' then 'image' when f.mime_type like 'video/%' then 'video'
            else 'document' end,
          'urls', waypost_file_urls(f.uuid, f.path_name, f.url_name, origin, cdn) - 'cdnUrl',
          'position', m.position, 'labels', m.labels)) as item) items
        where m.location_uuid = location
        group by m.is_logo
      ) parts
    $$`)

  // A file can be held by an asset and by locations; the last one that lets go says so. The row is locked first: of two
  // that let go at once the second one sees that the first is gone. Who refers to a file does not stand in the way.
  yield* sql.unsafe(`
    create or replace function waypost_detach_file() returns trigger language plpgsql as $$
    begin
      perform from files where uuid = old.file_uuid for no key update;
      update files set unattached_since = now() where uuid = old.file_uuid
        and not exists (select from assets where file_uuid = old.file_uuid)
        and not exists (select from location_media where file_uuid = old.file_uuid);
      return null;
    end $$`)
  yield* sql.unsafe(`
    create function waypost_hold_file() returns trigger language plpgsql as $$
    begin
      update files set unattached_since = null where uuid = new.file_uuid;
      if not found then
        raise exception 'There is no such file' using errcode = 'check_violation', constraint = 'location_media_file_exists';
      end if;
      return new;
    end $$`)
  yield* sql`create trigger file_attached before insert on location_media
    for each row when (new.file_uuid is not null) execute function waypost_hold_file()`
  yield* sql`create trigger file_detached after delete on location_media
    for each row when (old.file_uuid is not null) execute function waypost_detach_file()`
})
