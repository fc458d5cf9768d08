import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The writes that a plan tries out and undoes no longer log the creation and the change of records, with the counts, times and
  // postal codes of created ones.
  yield* sql.unsafe(`
    do $do$
    declare
      condition text := 'when (current_setting(''waypost.trial'', true) is distinct from ''on'')';
      source text := pg_get_functiondef('waypost_log_records'::regproc);
      logged text;
    begin
      if source not like '%for each row execute%for each statement execute%' then
        raise exception 'waypost_log_records has another source';
      end if;
      execute regexp_replace(source, '(for each (row|statement)) execute', '\\1 ' || replace(condition, '''', '''''') || ' execute', 'g');
      for logged in select relname from pg_trigger join pg_class c on c.oid = tgrelid where tgname = 'inserted' loop
        execute format('create or replace trigger logged after update or delete on %I
          for each row %s execute function %I()', logged, condition, 'waypost_log_' || logged);
        execute format('create or replace trigger inserted after insert on %I referencing new table as new_rows
          for each statement %s execute function %I()', logged, condition, 'waypost_inserted_' || logged);
      end loop;
    end $do$`)
})
