import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As before, but the function finds `cube` also without a search path, as pg_restore and logical replication write rows: they copied no
  // location with coordinates. The function would take twice as long with a search path of its own.
  yield* sql.unsafe(`
    do $do$
    begin
      execute format($format$
        create or replace function waypost_position(latitude float8, longitude float8) returns cube
        language plpgsql immutable strict parallel safe as $$
        begin
          return %I.cube(array[cos(radians(latitude)) * cos(radians(longitude)), cos(radians(latitude)) * sin(radians(longitude)),
            sin(radians(latitude))]);
        end $$$format$,
        (select nspname from pg_extension e join pg_namespace n on n.oid = extnamespace where extname = 'cube'));
    end $do$`)
})
