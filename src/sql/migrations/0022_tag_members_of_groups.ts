import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What identifies the set of the users and of the locations of a group: the hashes of their uuids, combined by `#`, which
  // adds a member and removes it again. The trigger that counts members maintains it, so that reading it costs the same
  // for a group of any size.
  yield* sql`lock table user_groups, group_locations in share row exclusive mode`
  yield* sql`alter table groups add column user_set bigint not null default 0, add column location_set bigint not null default 0`
  yield* sql`
    update groups g set
      user_set = coalesce((select bit_xor(uuid_hash_extended(user_uuid, 0)) from user_groups where group_uuid = g.uuid), 0),
      location_set = coalesce((select bit_xor(uuid_hash_extended(location_uuid, 0)) from group_locations where group_uuid = g.uuid), 0)`
  yield* sql.unsafe(`
    create or replace function waypost_count_members() returns trigger language plpgsql as $$
    declare
      sign int := case tg_op when 'INSERT' then 1 else -1 end;
      member text := replace(tg_argv[0], '_count', '');
    begin
      perform from groups where uuid in (select group_uuid from changed_rows) order by uuid for no key update;
      execute format('update groups set %1$I = %1$I + %2$s * changed.members, %3$I = %3$I # changed.hash
        from (select group_uuid, count(*)::int as members, bit_xor(uuid_hash_extended(%4$I, 0)) as hash
          from changed_rows group by group_uuid) changed
        where groups.uuid = changed.group_uuid', tg_argv[0], sign, member || '_set', member || '_uuid');
      return null;
    end $$`)
})
