import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Definitions that are written meanwhile would be in no sum, or twice in it.
  yield* sql`lock table meta_tag_definitions in share row exclusive mode`

  // The bytes of a definition, of which its short members count as 1 KiB.
  yield* sql.unsafe(`
    create function waypost_meta_tag_bytes(d meta_tag_definitions) returns bigint language sql stable
    return 1024 + octet_length(jsonb_build_array(d.translations, d.form_group, d.default_value, d.validation, d.options)::text)`)

  // The values of assets are validated by all definitions, which each process keeps in memory. Their bytes have a limit together. The
  // lock has writes that add bytes wait for each other, which would not see what the others add. A definition that becomes smaller, or
  // stays as large, may be above the limit.
  yield* sql.unsafe(`
    create function waypost_meta_tag_measured() returns trigger language plpgsql as $$
    declare
      added bigint := 0;
    begin
      if tg_op <> 'DELETE' then added := waypost_meta_tag_bytes(new); end if;
      if tg_op <> 'INSERT' then added := added - waypost_meta_tag_bytes(old); end if;
      if added > 0 then
        perform pg_advisory_xact_lock(hashtext('waypost'), hashtext('meta_tag_definitions.bytes'));
      end if;
      if added <> 0 then
        insert into row_counts (relation, delta) values ('meta_tag_definitions.bytes', added);
      end if;
      if added > 0 and (select sum(delta) from row_counts where relation = 'meta_tag_definitions.bytes') > 16777216 then
        raise exception 'All definitions together have too many bytes'
          using errcode = 'check_violation', constraint = 'meta_tag_definitions_bytes';
      end if;
      return null;
    end $$`)
  yield* sql`create trigger measured after insert or update or delete on meta_tag_definitions for each row
    execute function waypost_meta_tag_measured()`
  yield* sql`
    insert into row_counts (relation, delta)
      select 'meta_tag_definitions.bytes', sum(waypost_meta_tag_bytes(d)) from meta_tag_definitions d having count(*) > 0`
})
