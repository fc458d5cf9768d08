import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A postal code that has spaces and hyphens only is no code that a location claims.
  for (const name of ["waypost_inserted_locations()", "waypost_replace_postal_codes()"]) {
    const insertion = "from new_rows t, unnest(t.postal_codes) listed"
    yield* sql.unsafe(`
      do $do$
      declare
        source text := pg_get_functiondef('${name}'::regprocedure);
      begin
        if strpos(source, '${insertion}') = 0 then raise exception '${name} has another source'; end if;
        execute replace(source, '${insertion}', $part$${insertion} where waypost_postal_code(listed) <> ''$part$);
      end $do$`)
  }
  // The quality of their locations is looked at again.
  yield* sql`
    with removed as (delete from location_postal_codes where code = '' returning location_uuid)
    insert into stale_location_quality (location_uuid, is_recent) select distinct location_uuid, false from removed
      on conflict do nothing`
})
