import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [table, left, right] of [
    ["user_locations", "user", "location"],
    ["user_groups", "user", "group"],
    ["group_locations", "group", "location"]
  ] as const) {
    yield* sql.unsafe(`
      create table ${table} (
        ${left}_uuid uuid not null references ${left}s (uuid) on delete cascade,
        ${right}_uuid uuid not null references ${right}s (uuid) on delete cascade,
        primary key (${left}_uuid, ${right}_uuid)
      )`)
    yield* sql.unsafe(`create index ${table}_${right} on ${table} (${right}_uuid, ${left}_uuid)`)
  }

  // A group knows how many members it has: exact, cheap to read at any size, and sortable. The groups are locked in one
  // order, so that two statements that touch several of them cannot wait for each other.
  yield* sql.unsafe(`
    create function waypost_count_members() returns trigger language plpgsql as $$
    declare sign int := case tg_op when 'INSERT' then 1 else -1 end;
    begin
      perform from groups where uuid in (select group_uuid from changed_rows) order by uuid for no key update;
      execute format('update groups set %1$I = %1$I + %2$s * changed.members
        from (select group_uuid, count(*)::int as members from changed_rows group by group_uuid) changed
        where groups.uuid = changed.group_uuid', tg_argv[0], sign);
      return null;
    end $$`)
  for (const [table, column] of [
    ["user_groups", "user_count"],
    ["group_locations", "location_count"]
  ] as const) {
    yield* sql.unsafe(`create trigger count_inserted after insert on ${table} referencing new table as changed_rows
      for each statement execute function waypost_count_members('${column}')`)
    yield* sql.unsafe(`create trigger count_deleted after delete on ${table} referencing old table as changed_rows
      for each statement execute function waypost_count_members('${column}')`)
  }
})
