import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What the hash of an event covers, as before, but made of texts: those of the values have to be known for their size, too.
  // The functions are not declared immutable, because then PostgreSQL would not replace calls by what they return.
  yield* sql.unsafe(`
    create function waypost_event_digest(salt bytea, label text, before text, after text, links text) returns bytea
    language sql stable parallel safe
    return sha256(salt || convert_to('[' || coalesce(to_jsonb(label)::text, 'null') || ', ' || coalesce(before, 'null') || ', ' ||
      coalesce(after, 'null') || ', ' || coalesce(links, 'null') || ']', 'UTF8'))`)
  yield* sql.unsafe(`
    create or replace function waypost_event_digest(salt bytea, label text, before jsonb, after jsonb, links jsonb) returns bytea
    language sql stable parallel safe return waypost_event_digest(salt, label, before::text, after::text, links::text)`)
  // The words for types and actions have no character that JSON escapes.
  yield* sql.unsafe(`
    create or replace function waypost_event_text(place bigint, id uuid, type text, action text, record uuid,
      occurred_at timestamptz, sealed_at timestamptz, actor jsonb) returns bytea language sql stable parallel safe
    return convert_to(format('[%s, "%s", "%s", "%s", "%s", %s, %s, %s]', place, id, type, action, record,
      (date_part('epoch', occurred_at) * 1000)::bigint, (date_part('epoch', sealed_at) * 1000)::bigint, actor), 'UTF8')`)

  // As before, but all windows have one of two orders: by record, and by the time of the change. PostgreSQL sorts rows with all
  // that a record has four times instead of seven, and writes each value as text once instead of twice.
  yield* sql.unsafe(`
    create or replace function waypost_seal(batch int default 20000) returns int language plpgsql
      set enable_nestloop = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
    declare
      head record;
      taken_groups int;
      -- Known to nothing else: what is made of it and a number is as random as it is.
      seed bytea;
    begin
      if not exists (select from pending_changes) then return 0; end if;
      select position, hash, greatest(sealed_at, clock_timestamp()::timestamptz(3)) as now into head
        from event_log for update skip locked;
      if not found then return 0; end if;
      seed := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
      with wanted as (
        select tx, uuid, step, last from (
          select tx, uuid, step, last, sum(size) over (order by last) - size as before from (
            select tx, uuid, step, max(id) as last, sum(coalesce(pg_column_size(before), 0) + coalesce(pg_column_size(after), 0)
              + coalesce(pg_column_size(links), 0)) as size
            -- A change that is part of what a transaction did to a record is taken with the rest of it, wherever that is.
            from (select * from pending_changes order by id limit 4 * batch) oldest
            group by tx, uuid, step order by last limit batch
          ) sizes
        ) places where places.before < 33554432
      ), taken as (
        delete from pending_changes p using wanted w
          -- Every pending change has such an id; the condition has PostgreSQL read the index of them.
          where p.id >= (select min(id) from pending_changes) and p.tx = w.tx and p.uuid = w.uuid and p.step = w.step
        returning p.*, w.last
      ), merged as (
        select last, uuid, min(type) as type, max(at) as at, (array_agg(change order by id desc))[1] as change,
          bool_or(action = 'created') as created, bool_or(action = 'deleted') as deleted, bool_or(action = 'erased') as erased,
          case when count(*) = 1 then (array_agg(before))[1]
            else waypost_merge_changes(array_agg(before order by id desc)) end as before,
          case when count(*) = 1 then (array_agg(after))[1]
            else waypost_merge_changes(array_agg(after order by id)) end as after,
          case when count(links) > 0 then waypost_merge_links(array_agg(links) filter (where links is not null)) end as links,
          count(*) > 1 as several
        from taken group by last, tx, uuid
      ), changed as (
        select last, uuid, type, at, nullif(change, '')::jsonb as change, links,
          case when erased then 'erased' when created then 'created' when deleted then 'deleted' else 'updated' end as action,
          case when created then null when deleted or not several then before else waypost_differing(before, after) end as before,
          case when deleted then null when created or not several then after else waypost_differing(after, before) end as after
        from merged where not (created and deleted)
      ), known as (
        select c.*, previous.label, previous.occurred_at, waypost_label(type, coalesce(after, before)) as own_label,
          row_number() over (partition by c.uuid order by last) as own
        from changed c left join lateral (
          select e.label, e.occurred_at from events e where e.record_uuid = c.uuid order by e.position desc limit 1
        ) previous on true
        where action <> 'updated' or links is not null or coalesce(after, '{}') - '{edited_at,title}'::text[] <> '{}'
      ), timed as (
        select last, uuid, type, before, after, links, coalesce(change->'actor', '{"type": "system"}') as actor,
          -- A login is no event that a client reads, but the answer changes with it.
          case when change->>'restores' = uuid::text then 'restored'
            when action = 'updated' and links is null and type = 'user' and after - 'last_login_at' - 'edited_at' = '{}'
            then 'touched' else action end as action,
          -- The last label that the record had, found as the greatest with its number before it.
          case when not coalesce(after ? 'erased', false) then coalesce(
            substr(max((lpad(own::text, 10, '0') || own_label) collate "C") over (partition by uuid order by last), 11),
            label, waypost_current_label(type, uuid)) end as label,
          (max(greatest(at, occurred_at + interval '1 millisecond') - own * interval '1 millisecond')
            over (partition by uuid order by last) + own * interval '1 millisecond')::timestamptz(3) as at
        from known
      ), placed as (
        select timed.*, head.position + row_number() over (order by last) as place,
          sha256(seed || int8send(row_number() over (order by last))) as random,
          greatest(head.now, max(at) over (order by last)) as sealed_at,
          before::text as before_text, after::text as after_text, links::text as links_text
        from timed offset 0
      ), digested as (
        select placed.*, salt, (lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0') || '7' ||
            left(encode(substr(random, 17, 2), 'hex'), 3) || to_hex((-9223372036854775808)::bigint | place))::uuid as id,
          waypost_event_digest(salt, label, before_text, after_text, links_text) as digest,
          coalesce(octet_length(before_text), 0) + coalesce(octet_length(after_text), 0)
            + coalesce(octet_length(links_text), 0) as bytes
        from placed, lateral (select substr(random, 1, 16) as salt) salts offset 0
      ), sealed as (
        insert into events (position, id, type, action, record_uuid, occurred_at, sealed_at, actor, label, before, after,
            links, bytes, salt, digest, hash)
          select place, id, type, action, uuid, at, sealed_at, actor, label, before, after, links, bytes, salt, digest,
            waypost_chain(head.hash, waypost_event_text(place, id, type, action, uuid, at, sealed_at, actor) || digest)
              over (order by last)
          from digested
          returning position, hash, sealed_at, links
      ), linked as (
        insert into event_links (uuid, position)
          select distinct member::uuid, position from sealed, jsonb_array_elements(links) link,
            lateral (select jsonb_array_elements_text((link->'added') || (link->'removed')) as member) members
          where links is not null
      ), moved as (
        update event_log set (position, hash, sealed_at) =
          (select position, hash, sealed_at from sealed order by position desc limit 1)
        where exists (select from sealed)
      ) select count(*) into taken_groups from wanted;
      return taken_groups;
    end $$`)
})
