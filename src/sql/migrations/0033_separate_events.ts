import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The operations of a bulk request are events of their own, although they share a transaction: each is a step of it.
  yield* sql`
    alter table pending_changes
      add column step int not null default coalesce(nullif(current_setting('waypost.step', true), ''), '0')::int`
  yield* sql.unsafe(`
    create or replace function waypost_seal(batch int default 20000) returns int language plpgsql as $$
    declare
      head record;
      taken_groups int;
    begin
      if not exists (select from pending_changes) then return 0; end if;
      select position, hash, greatest(sealed_at, clock_timestamp()::timestamptz(3)) as now into head
        from event_log for update skip locked;
      if not found then return 0; end if;
      with wanted as (
        select tx, uuid, step, last from (
          select tx, uuid, step, last, sum(size) over (order by last) - size as before from (
            select tx, uuid, step, max(id) as last, sum(coalesce(pg_column_size(before), 0) + coalesce(pg_column_size(after), 0)
              + coalesce(pg_column_size(links), 0)) as size
            from pending_changes group by tx, uuid, step order by last limit batch
          ) sizes
        ) places where places.before < 33554432
      ), taken as (
        delete from pending_changes p using wanted w where p.tx = w.tx and p.uuid = w.uuid and p.step = w.step
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

  // Events belong to a type of record and a uuid: the uuid of a record of another type has no past and nothing to erase.
  yield* sql`drop function if exists waypost_undone(uuid[], bigint, timestamptz)`
  yield* sql.unsafe(`
    create or replace function waypost_undone(record_type text, records uuid[], beyond bigint, since timestamptz)
    returns table (uuid uuid, boundary text, before jsonb) language sql stable as $$
      with later as materialized (
        select e.record_uuid as uuid, e.position as place, 0 as step, e.before, case
            when e.action = 'deleted' then 'deleted'
            when e.action = 'created' or e.action = 'restored' and e.before is null and e.after is not null then 'created'
          end as boundary
        from unnest(records) wanted (uuid)
        join events e on e.record_uuid = wanted.uuid and e.type = record_type and e.position > beyond and e.occurred_at > since
        union all
        select p.uuid, p.place, p.id, p.before, case when p.created then 'created' when p.deleted then 'deleted' end
        from (
          select p.uuid, p.id, p.before, waypost_pending_place(max(p.id) over own) as place, max(p.at) over own as at,
            bool_or(p.action = 'created') over own as created, bool_or(p.action = 'deleted') over own as deleted
          from pending_changes p where p.uuid = any (records) and p.type = record_type window own as (partition by p.tx, p.uuid, p.step)
        ) p where p.place > beyond and p.at > since and not (p.created and p.deleted)
      ), bounded as (
        select l.uuid, min(place) filter (where l.boundary is not null) as place,
          (array_agg(l.boundary order by place) filter (where l.boundary is not null))[1] as boundary
        from later l group by l.uuid
      ), replaced as (
        select distinct on (l.uuid, key) l.uuid, key, value
        from later l join bounded b on b.uuid = l.uuid and (b.place is null or l.place <= b.place), jsonb_each(l.before)
        order by l.uuid, key, l.place, l.step
      ) select b.uuid, min(b.boundary), jsonb_object_agg(r.key, r.value) filter (where r.key is not null)
      from bounded b left join replaced r on r.uuid = b.uuid group by b.uuid
    $$`)
  yield* sql.unsafe(`
    create or replace function waypost_erase(record_type text, record uuid) returns int language plpgsql as $$
    declare
      erased jsonb;
      found int;
    begin
      perform waypost_seal_all();
      select count(*) into found from events where record_uuid = record and type = record_type;
      with blank as (
        update events e set label = null, before = null, after = null, bytes = coalesce(octet_length(e.links::text), 0),
            salt = case when e.links is not null then uuid_send(gen_random_uuid()) end
          where record_uuid = record and type = record_type and action <> 'erased' and num_nonnulls(label, before, after) > 0
          returning position, case when salt is not null then
            encode(waypost_event_digest(salt, label, before, after, links), 'hex') end as rest
      ) select jsonb_object_agg(position, rest) into erased from blank;
      if erased is not null then perform waypost_log_erasure(record_type, record, 'erased', erased); end if;
      return found;
    end $$`)
  yield* sql.unsafe(`
    create or replace function waypost_erase_paths(record_type text, record uuid, paths jsonb) returns int language plpgsql as $$
    declare
      erased jsonb;
      found int;
      labels boolean := exists (
        select from jsonb_array_elements(paths) path where waypost_label(record_type, jsonb_build_object(path->>0, '')) is not null);
    begin
      perform waypost_seal_all();
      select count(*) into found from events where record_uuid = record and type = record_type;
      with changed as (
        select position, waypost_without(before, paths) as before, waypost_without(after, paths) as after,
          case when not labels then label end as label, uuid_send(gen_random_uuid()) as salt
        from events where record_uuid = record and type = record_type and not position in (select position from event_erasures)
      ), lighter as (
        update events e set label = c.label, before = c.before, after = c.after, salt = c.salt,
            bytes = coalesce(octet_length(c.before::text), 0) + coalesce(octet_length(c.after::text), 0)
              + coalesce(octet_length(e.links::text), 0)
          from changed c
          where e.position = c.position and (e.label, e.before, e.after) is distinct from (c.label, c.before, c.after)
          returning e.position, encode(waypost_event_digest(e.salt, e.label, e.before, e.after, e.links), 'hex') as rest
      ) select jsonb_object_agg(position, rest) into erased from lighter;
      if erased is not null then perform waypost_log_erasure(record_type, record, 'updated', erased); end if;
      return found;
    end $$`)

  // The restoration of a record may move its status anywhere; a post keeps the time at which it was published.
  yield* sql.unsafe(`
    create or replace function waypost_restores(record uuid) returns boolean language sql stable
    return coalesce(nullif(current_setting('waypost.change', true), '')::jsonb->>'restores' = record::text, false)`)
  yield* sql.unsafe(`
    create or replace function waypost_user_status() returns trigger language plpgsql as $$
    begin
      if not waypost_restores(new.uuid) and (old.status, new.status) not in
          (('pending', 'active'), ('active', 'suspended'), ('suspended', 'active')) then
        raise exception 'A user cannot move from % to %', old.status, new.status
          using errcode = 'check_violation', constraint = 'users_status_move';
      end if;
      return new;
    end $$`)
  yield* sql.unsafe(`
    create or replace function waypost_product_moves() returns trigger language plpgsql as $$
    begin
      if old.type <> new.type then
        raise exception 'The type of a product cannot change'
          using errcode = 'check_violation', constraint = 'products_type_immutable';
      end if;
      if not waypost_restores(new.uuid) and old.status <> new.status and (old.status, new.status) not in
          (('draft', 'published'), ('published', 'archived'), ('archived', 'draft')) then
        raise exception 'A product cannot move from % to %', old.status, new.status
          using errcode = 'check_violation', constraint = 'products_status_move';
      end if;
      return new;
    end $$`)
  yield* sql.unsafe(`
    create or replace function waypost_post_status() returns trigger language plpgsql as $$
    begin
      if waypost_restores(new.uuid) then return new; end if;
      if tg_op = 'INSERT' and new.status not in ('draft', 'scheduled')
        or tg_op = 'UPDATE' and (old.status, new.status) not in
          (('draft', 'scheduled'), ('scheduled', 'draft'), ('scheduled', 'published'), ('published', 'archived')) then
        raise exception 'A post cannot become %', new.status
          using errcode = 'check_violation', constraint = 'posts_status_move';
      end if;
      if new.status = 'published' then
        new.published_at := now();
      end if;
      return new;
    end $$`)
})
