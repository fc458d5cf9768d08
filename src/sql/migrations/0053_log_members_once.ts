import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The functions that log media and categories collect the rows of a statement for each record, and no longer look through all of
  // them for each: the time of a category with 10,000 assets was the square of that number, more than a statement may take.
  yield* sql.unsafe(`
    do $do$
    declare
      logged record;
      source text;
    begin
      for logged in
        select format('waypost_log_%s_%s()', name, event)::regprocedure as function, name, owner, rows
        from (values ('location_media', 'location_uuid'), ('asset_category_links', 'asset_uuid'),
            ('meta_tag_categories', 'definition_uuid')) tables (name, owner),
          (values ('insert', 'new_rows'), ('delete', 'old_rows')) events (event, rows)
      loop
        source := replace(pg_get_functiondef(logged.function),
          format('select * from %s where %s = changed.uuid', logged.rows, logged.owner), 'select * from unnest(changed.rows)');
        source := replace(source, format('select distinct %s as uuid from %s', logged.owner, logged.rows),
          format('select %s as uuid, array_agg(row(m.*)::%s) as rows from %s m group by 1', logged.owner, logged.name, logged.rows));
        if strpos(source, 'unnest(changed.rows)') = 0 or strpos(source, 'group by 1') = 0 then
          raise exception '% has another source', logged.function;
        end if;
        execute source;
      end loop;
    end $do$`)
})
