import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const tables = [
  ["user_locations", "user", "location"],
  ["user_groups", "user", "group"],
  ["group_locations", "group", "location"]
] as const

/** Identifies the set of the members of a record; a group has it in a column. */
const tagOf = (table: string, own: string, other: string) =>
  own === "group"
    ? `select to_hex(${other}_set) from groups where uuid = record`
    : `select to_hex(coalesce(bit_xor(uuid_hash_extended(${other}_uuid, 0)), 0)) from ${table} where ${own}_uuid = record`

/**
 * Replaces the members of a record in one call; `change` is not used, but evaluated before it.
 *
 * Small replacements run at the same time: each locks its record and the members that come and go, so that the set of a record
 * changes under the lock of that record only. A set of more than `most` members is not replaced. Without `most`, the transaction
 * has the table to itself.
 */
const replacement = (table: string, own: string, other: string) => `
  create function waypost_replace_${other}s_of_${own}(
    record uuid, members uuid[], expected text[], most int, change text,
    out known boolean, out large boolean, out current boolean, out missing uuid[], out changes int, out tag text
  ) language plpgsql set enable_seqscan = off as $$
  declare
    linked uuid[];
    removed uuid[];
    added uuid[];
    needed bigint[];
    locked bigint[] := '{}';
    count int;
  begin
    perform set_config('lock_timeout', '250ms', true), set_config('waypost.owner', '${own}s', true);
    if most is not null then perform pg_advisory_xact_lock_shared(hashtext('waypost'), hashtext('${table}')); end if;
    known := exists (select from ${own}s where uuid = record);
    if not known then return; end if;

    loop
      linked := array(select ${other}_uuid from ${table} where ${own}_uuid = record limit most + 1);
      large := cardinality(linked) > most;
      if large then return; end if;
      removed := array(select unnest(linked) except select unnest(members) order by 1);
      added := array(select unnest(members) except select unnest(linked) order by 1);
      exit when most is null;
      needed := array(
        select uuid_hash_extended(uuid, 0) from unnest(record || removed || added) uuid except select unnest(locked) order by 1);
      exit when needed = '{}';
      if locked = '{}' then perform pg_advisory_xact_lock(key) from unnest(needed) key;
      -- The set changed before it was locked. A second wait would be out of order.
      elsif not (select bool_and(pg_try_advisory_xact_lock(key)) from unnest(needed) key) then
        raise exception 'The relations change' using errcode = 'serialization_failure';
      end if;
      locked := locked || needed;
    end loop;

    tag := (${tagOf(table, own, other)});
    current := expected is null or tag = any (expected);
    if not current then return; end if;
    missing := array(
      select uuid from unnest(members) with ordinality wanted (uuid, place)
        where not exists (select from ${other}s t where t.uuid = wanted.uuid) order by place);
    if missing <> '{}' then return; end if;

    changes := 0;
    ${other === "group" ? "perform from groups where uuid = any (removed || added) order by uuid for no key update;" : ""}
    if removed <> '{}' then
      delete from ${table} where ${own}_uuid = record and ${other}_uuid = any (removed);
      get diagnostics changes = row_count;
    end if;
    if added <> '{}' then
      insert into ${table} (${own}_uuid, ${other}_uuid) select record, unnest(added) on conflict do nothing;
      get diagnostics count = row_count;
      changes := changes + count;
    end if;
    if changes > 0 then tag := (${tagOf(table, own, other)}); end if;
  end $$`

/** Adds what a statement inserted to the sizes and sets of groups, or takes what it deleted away. */
const counted = (member: string) => `
  update groups set ${member}_count = ${member}_count + sign * changed.members, ${member}_set = ${member}_set # changed.hash
    from (select group_uuid, count(*)::int as members, bit_xor(uuid_hash_extended(${member}_uuid, 0)) as hash
      from changed_rows group by group_uuid) changed
    where groups.uuid = changed.group_uuid;`

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As before, but the statements are planned once: planning them took longer than two rows take.
  yield* sql.unsafe(`
    create or replace function waypost_count_members() returns trigger language plpgsql set enable_seqscan = off as $$
    declare
      sign int := case tg_op when 'INSERT' then 1 else -1 end;
    begin
      perform from groups where uuid in (select group_uuid from changed_rows) order by uuid for no key update;
      if tg_argv[0] = 'user_count' then ${counted("user")} else ${counted("location")} end if;
      return null;
    end $$`)
  for (const [table, left, right] of tables) {
    yield* sql.unsafe(replacement(table, left, right))
    yield* sql.unsafe(replacement(table, right, left))
  }
})
