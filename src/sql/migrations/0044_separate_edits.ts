import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const tables = [
  "users",
  "locations",
  "groups",
  "products",
  "posts",
  "assets",
  "meta_tag_definitions",
  "asset_categories",
  "webhooks"
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // An update that changes an indexed column writes every index of the row. Each edit changes `edited_at`, so the index on it
  // is that of a narrow table, and other updates write the row alone if its page has space.
  yield* sql.unsafe(`
    create procedure waypost_keep_edits(kept text) language plpgsql as $procedure$
    declare
      edits text := kept || '_edits';
      name text := 'waypost_keep_edits_of_' || kept;
    begin
      execute format('create table %I (uuid uuid not null, edited_at timestamptz(3) not null)', edits);
      execute format('insert into %I (uuid, edited_at) select uuid, edited_at from %I', edits, kept);
      execute format('alter table %I add primary key (uuid)', edits);
      execute format('drop index if exists %I', kept || '_edited_at');
      execute format('create index %I on %I (edited_at, uuid)', kept || '_edited_at', edits);
      -- A session may have planned the statements when the table was empty.
      execute format($create$create function %I() returns trigger language plpgsql set enable_seqscan = off as $$
        begin
          case tg_op
            when 'UPDATE' then update %2$I set edited_at = new.edited_at where uuid = new.uuid;
            when 'INSERT' then insert into %2$I (uuid, edited_at) select uuid, edited_at from new_rows;
            when 'DELETE' then delete from %2$I where uuid in (select uuid from old_rows);
            else truncate %2$I;
          end case;
          return null;
        end $$ $create$, name, edits);
      execute format('create trigger edits_inserted after insert on %I referencing new table as new_rows
        for each statement execute function %I()', kept, name);
      execute format('create trigger edits_updated after update on %I for each row
        when (old.edited_at is distinct from new.edited_at) execute function %I()', kept, name);
      execute format('create trigger edits_deleted after delete on %I referencing old table as old_rows
        for each statement execute function %I()', kept, name);
      execute format('create trigger edits_truncated after truncate on %I
        for each statement execute function %I()', kept, name);
      execute format('alter table %I set (fillfactor = 90)', kept);
    end $procedure$`)
  for (const table of tables) yield* sql`call waypost_keep_edits(${table}::text)`

  // An index on an expression of `address` is written at each change of an address; one on a column when it changes.
  yield* sql`drop index locations_zipcode`
  yield* sql`
    alter table locations add column zipcode_compared text collate "C"
      generated always as (waypost_postal_code(address->>'zipcode')) stored`
  yield* sql`create index locations_zipcode on locations (zipcode_compared)`
  yield* sql`
    call waypost_log_table('locations', 'location',
      '{city,country_code,has_media,week_minutes,special_minutes,latitude,longitude,sphere_position,zipcode_compared}')`
})
