import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Every alteration of a record, written by triggers in its transaction. Sealing moves the rows into `events`. The columns
  // `before` and `after` hold the columns of the record that differ; `links` holds added and removed relations.
  yield* sql`
    create table pending_changes (
      id bigint generated always as identity primary key,
      tx xid8 not null default pg_current_xact_id(),
      at timestamptz(3) not null default clock_timestamp(),
      change text collate "C" default current_setting('waypost.change', true),
      type text not null collate "C",
      uuid uuid not null,
      action text not null collate "C",
      before jsonb,
      after jsonb,
      links jsonb
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`

  // The log: committed changes, one row for each record of a transaction, in the order in which sealing found them.
  // `sealed_at` never decreases with the position, and `occurred_at` is never later than it. `bytes` is the size of the values.
  yield* sql`
    create table events (
      position bigint primary key,
      id uuid not null,
      type text not null collate "C",
      action text not null collate "C",
      record_uuid uuid not null,
      occurred_at timestamptz(3) not null,
      sealed_at timestamptz(3) not null,
      actor jsonb not null,
      label text collate "C",
      before jsonb,
      after jsonb,
      links jsonb,
      bytes int not null,
      salt bytea,
      digest bytea not null,
      hash bytea not null
    ) with (fillfactor = 100)`
  yield* sql`create index events_record on events (record_uuid, position)`
  // The records on the other side of relations, whose history has the event too.
  yield* sql`
    create table event_links (
      uuid uuid not null,
      position bigint not null,
      primary key (uuid, position)
    )`

  // The end of the log. A generation begins when the log is created and when a backup is restored.
  yield* sql`
    create table event_log (
      position bigint not null,
      hash bytea not null,
      sealed_at timestamptz(3) not null,
      -- The last position that was pruned, its hash, and when it was sealed.
      pruned_position bigint not null default 0,
      pruned_hash bytea not null default '',
      pruned_at timestamptz(3)
    )`
  yield* sql`insert into event_log (position, hash, sealed_at) values (0, '', now())`
  yield* sql`
    create table event_generations (
      number int generated always as identity primary key,
      id uuid not null default gen_random_uuid(),
      -- The last position of the generations before it.
      after_position bigint not null,
      began_at timestamptz(3) not null default now()
    )`
  yield* sql`insert into event_generations (after_position) values (0)`

  // The member by which people recognize a record.
  yield* sql.unsafe(`
    create function waypost_label(type text, state jsonb) returns text language sql immutable parallel safe
    return state->>(case type when 'user' then 'username' when 'post' then 'title' when 'webhook' then 'url'
      when 'metaTag' then 'key' when 'assetCategory' then 'key' else 'name' end)`)

  // The label of a record as it is now, for an event without it whose earlier events were pruned or erased.
  yield* sql.unsafe(`
    create function waypost_current_label(type text, record uuid) returns text language plpgsql stable as $$
    declare
      found text;
    begin
      execute format('select waypost_label(%L, to_jsonb(t)) from %I t where uuid = $1', type, case type
        when 'metaTag' then 'meta_tag_definitions' when 'assetCategory' then 'asset_categories'
        when 'apiKey' then 'api_keys' else type || 's' end) into found using record;
      return found;
    end $$`)

  // Merges objects; of equal keys the last one counts.
  yield* sql.unsafe(`
    create function waypost_merge_changes(states jsonb[]) returns jsonb language sql immutable parallel safe
    return (select jsonb_object_agg(key, value order by place)
      from unnest(states) with ordinality listed (state, place), jsonb_each(state))`)
  // The members of one object whose values differ in the other.
  yield* sql.unsafe(`
    create function waypost_differing(one jsonb, other jsonb) returns jsonb language sql immutable parallel safe
    return (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(one) where value is distinct from other->key)`)
  // Merges the links of a transaction by path: what was added and removed again is left out.
  yield* sql.unsafe(`
    create function waypost_merge_links(links jsonb[]) returns jsonb language sql immutable parallel safe
    return (select jsonb_agg(jsonb_build_object('path', path, 'added', added, 'removed', removed) order by path) from (
      select path, coalesce(jsonb_agg(uuid order by uuid) filter (where change > 0), '[]') as added,
        coalesce(jsonb_agg(uuid order by uuid) filter (where change < 0), '[]') as removed
      from (
        select link->>'path' as path, uuid, sum(change) as change from unnest(links) link, lateral (
          select uuid, 1 as change from jsonb_array_elements_text(link->'added') uuid
          union all select uuid, -1 from jsonb_array_elements_text(link->'removed') uuid
        ) members group by 1, 2
      ) summed where change <> 0 group by path
    ) paths)`)

  // A UUID of version 7 that ends in the position, so that an event is found by its id without another index.
  yield* sql.unsafe(`
    create function waypost_event_id(at timestamptz, place bigint) returns uuid language sql volatile parallel safe
    return (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' ||
      substr(gen_random_uuid()::text, 1, 3) || to_hex((-9223372036854775808)::bigint | place))::uuid`)

  // What the hash of an event covers, in two steps: the values with a random salt, then everything else with their digest and
  // the hash of the event before.
  yield* sql.unsafe(`
    create function waypost_event_digest(salt bytea, label text, before jsonb, after jsonb, links jsonb) returns bytea
    language sql immutable parallel safe
    return sha256(salt || convert_to(jsonb_build_array(label, before, after, links)::text, 'UTF8'))`)
  yield* sql.unsafe(`
    create function waypost_event_text(place bigint, id uuid, type text, action text, record uuid, occurred_at timestamptz,
      sealed_at timestamptz, actor jsonb) returns bytea language sql immutable parallel safe
    return convert_to(jsonb_build_array(place, id, type, action, record, (extract(epoch from occurred_at) * 1000)::bigint,
      (extract(epoch from sealed_at) * 1000)::bigint, actor)::text, 'UTF8')`)
  yield* sql.unsafe(`
    create function waypost_next_hash(previous bytea, first bytea, content bytea) returns bytea
    language sql immutable parallel safe return sha256(coalesce(previous, first) || content)`)
  yield* sql.unsafe(
    `create aggregate waypost_chain (first bytea, content bytea) (sfunc = waypost_next_hash, stype = bytea)`
  )

  // The last position that was sealed before a time, found by bisection; later events occurred at that time or later, or
  // were sealed after it.
  yield* sql.unsafe(`
    create function waypost_position_at(at timestamptz) returns bigint language plpgsql stable parallel safe as $$
    declare
      low bigint;
      high bigint;
      middle bigint;
    begin
      select pruned_position, position into low, high from event_log;
      while low < high loop
        middle := (low + high + 1) / 2;
        if (select sealed_at < at from events where events.position = middle) then low := middle;
        else high := middle - 1; end if;
      end loop;
      return low;
    end $$`)

  // Gives positions to committed changes and returns how many it took; another process that seals makes it return 0. It
  // takes at most a number of events, and values of 32 MB unless one event has more. The rows of a record in one
  // transaction become one event. Those of a record are ordered by their last row, because a transaction takes the lock of
  // a record before it alters it.
  yield* sql.unsafe(`
    create function waypost_seal(batch int default 20000) returns int language plpgsql as $$
    declare
      head record;
      taken_groups int;
    begin
      if not exists (select from pending_changes) then return 0; end if;
      select position, hash, greatest(sealed_at, clock_timestamp()::timestamptz(3)) as now into head
        from event_log for update skip locked;
      if not found then return 0; end if;
      with wanted as (
        select tx, uuid, last from (
          select tx, uuid, last, sum(size) over (order by last) - size as before from (
            select tx, uuid, max(id) as last, sum(coalesce(pg_column_size(before), 0) + coalesce(pg_column_size(after), 0)
              + coalesce(pg_column_size(links), 0)) as size
            from pending_changes group by tx, uuid order by last limit batch
          ) sizes
        ) places where places.before < 33554432
      ), taken as (
        delete from pending_changes p using wanted w where p.tx = w.tx and p.uuid = w.uuid returning p.*, w.last
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
          row_number() over (order by last) as nth, row_number() over (partition by c.uuid order by last) as own
        from changed c left join lateral (
          select e.label, e.occurred_at from events e where e.record_uuid = c.uuid order by e.position desc limit 1
        ) previous on true
        where action <> 'updated' or links is not null or coalesce(after, '{}') - '{edited_at,title}'::text[] <> '{}'
      ), timed as (
        select nth, uuid, type, before, after, links, coalesce(change->'actor', '{"type": "system"}') as actor,
          -- A login is no event that a client reads, but the answer changes with it.
          case when change->>'restores' = uuid::text then 'restored'
            when action = 'updated' and links is null and type = 'user' and after - 'last_login_at' - 'edited_at' = '{}'
            then 'touched' else action end as action,
          case when not coalesce(after ? 'erased', false) then coalesce((array_agg(own_label) filter (where own_label is not null) over (
              partition by uuid order by nth desc rows between current row and unbounded following))[1],
            label, waypost_current_label(type, uuid)) end as label,
          (max(greatest(at, occurred_at + interval '1 millisecond') - own * interval '1 millisecond')
            over (partition by uuid order by nth) + own * interval '1 millisecond')::timestamptz(3) as at
        from known
      ), digested as materialized (
        select t.*, head.position + nth as place, waypost_event_id(at, head.position + nth) as id,
          greatest(head.now, max(at) over (order by nth)) as sealed_at,
          waypost_event_digest(salt, label, before, after, links) as digest,
          coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)
            + coalesce(octet_length(links::text), 0) as bytes
        from (select *, uuid_send(gen_random_uuid()) as salt from timed) t
      ), sealed as (
        insert into events (position, id, type, action, record_uuid, occurred_at, sealed_at, actor, label, before, after,
            links, bytes, salt, digest, hash)
          select place, id, type, action, uuid, at, sealed_at, actor, label, before, after, links, bytes, salt, digest,
            waypost_chain(head.hash, waypost_event_text(place, id, type, action, uuid, at, sealed_at, actor) || digest)
              over (order by place)
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
