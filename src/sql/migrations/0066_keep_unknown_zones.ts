import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The time on the clocks of a zone, as before, but null for a zone that the server does not know. Servers differ in the names they
  // know, also before and after an update. Before PostgreSQL 17 no block with an exception runs while a plan has parallel workers, also
  // in the process that leads them.
  const [server] = yield* sql<{ readonly version: number }>`
    select current_setting('server_version_num')::int as version`
  yield* sql.unsafe(`
    create or replace function waypost_local(instant timestamptz, zone text) returns timestamp
    language plpgsql immutable strict parallel ${server!.version >= 170_000 ? "safe" : "unsafe"} as $$
    begin
      return timezone(case zone when 'CET' then 'Europe/Brussels' when 'MET' then 'Europe/Brussels' when 'EET' then 'Europe/Athens'
        when 'WET' then 'Europe/Lisbon' else zone end, instant);
    exception when invalid_parameter_value then
      return null;
    end $$`)

  // A zone is checked when it is set, and not with every change of its location or when a backup is restored. The triggers run
  // after the change: PostgreSQL computes all generated columns again in tables with a trigger before updates of rows.
  yield* sql.unsafe(`
    create function waypost_check_zone() returns trigger language plpgsql as $$
    begin
      if not waypost_knows_zone(new.timezone) then
        raise exception 'The time zone % is not known', new.timezone
          using errcode = 'check_violation', constraint = 'locations_timezone_known';
      end if;
      return null;
    end $$`)
  yield* sql`
    create trigger zone_begins after insert on locations for each row when (new.timezone is not null)
    execute function waypost_check_zone()`
  yield* sql`
    create trigger zone_changes after update of timezone on locations for each row
    when (old.timezone is distinct from new.timezone) execute function waypost_check_zone()`
  yield* sql`alter table locations drop constraint if exists locations_timezone_known`
})
