import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What the settings of a module name, once more as rows: a file that is in use is not swept, and an asset knows where
  // it is used. They come and go in the transaction that writes the settings, and with their module.
  yield* sql`
    create table product_files (
      product_uuid uuid not null,
      module text not null collate "C",
      file_uuid uuid not null references files (uuid),
      primary key (product_uuid, module, file_uuid),
      constraint product_files_module foreign key (product_uuid, module)
        references product_modules (product_uuid, module) on delete cascade
    )`
  yield* sql`create index product_files_file on product_files (file_uuid)`
  yield* sql`
    create table product_assets (
      product_uuid uuid not null,
      module text not null collate "C",
      asset_uuid uuid not null references assets (uuid) on delete cascade,
      primary key (product_uuid, module, asset_uuid),
      constraint product_assets_module foreign key (product_uuid, module)
        references product_modules (product_uuid, module) on delete cascade
    )`
  yield* sql`create index product_assets_asset on product_assets (asset_uuid)`

  // A file can be held by an asset, by locations and by products; the last one that lets go says so.
  yield* sql.unsafe(`
    create or replace function waypost_detach_file() returns trigger language plpgsql as $$
    begin
      perform from files where uuid = old.file_uuid for no key update;
      update files set unattached_since = now() where uuid = old.file_uuid
        and not exists (select from assets where file_uuid = old.file_uuid)
        and not exists (select from location_media where file_uuid = old.file_uuid)
        and not exists (select from product_files where file_uuid = old.file_uuid);
      return null;
    end $$`)
  yield* sql.unsafe(`
    create or replace function waypost_hold_file() returns trigger language plpgsql as $$
    begin
      update files set unattached_since = null where uuid = new.file_uuid;
      if not found then
        raise exception 'There is no such file'
          using errcode = 'check_violation', constraint = tg_table_name || '_file_exists';
      end if;
      return new;
    end $$`)
  yield* sql`create trigger file_attached before insert on product_files
    for each row execute function waypost_hold_file()`
  yield* sql`create trigger file_detached after delete on product_files
    for each row execute function waypost_detach_file()`

  // Posts name assets in their own columns; whoever deletes an asset looks there.
  yield* sql`create index posts_cover_asset on posts (cover_asset_uuid) where cover_asset_uuid is not null`
  yield* sql`create index posts_media_assets on posts using gin (media_asset_uuids)
    with (gin_pending_list_limit = 512)`
})
