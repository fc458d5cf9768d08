import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables of records, and the columns that the log leaves out because other columns or rows determine them. */
const records = [
  { type: "user", table: "users", without: [] },
  {
    type: "location",
    table: "locations",
    without: [
      "city",
      "country_code",
      "has_media",
      "week_minutes",
      "special_minutes",
      "latitude",
      "longitude",
      "sphere_position",
      "zipcode_compared"
    ]
  },
  { type: "group", table: "groups", without: ["user_count", "location_count", "user_set", "location_set"] },
  { type: "product", table: "products", without: ["parent_type"] },
  { type: "post", table: "posts", without: [] },
  { type: "asset", table: "assets", without: ["path_name", "url_name"] },
  { type: "metaTag", table: "meta_tag_definitions", without: [] },
  { type: "assetCategory", table: "asset_categories", without: [] },
  { type: "webhook", table: "webhooks", without: [] }
] as const

/** What else an insertion writes. */
const also: Readonly<Record<string, string>> = {
  locations: `insert into location_postal_codes (code, country_code, location_uuid)
    select distinct waypost_postal_code(listed), coalesce(t.country_code, ''), t.uuid from new_rows t, unnest(t.postal_codes) listed;`
}

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What an insertion writes elsewhere is written by one function for all rows of the statement: their events, their number
  // and their times. A migration that adds a column to a table calls this again.
  yield* sql.unsafe(`
    create procedure waypost_log_records(logged regclass, type text, without text[], also text default '') language plpgsql as $$
    declare
      changed text := 'waypost_log_' || logged;
      inserted text := 'waypost_inserted_' || logged;
      kept text;
      comparisons text;
    begin
      select string_agg(format('n.%I', attname), ', ' order by attnum), string_agg(format('if old.%1$I is distinct from new.%1$I then
            before := before || jsonb_build_object(%1$L, old.%1$I);
            after := after || jsonb_build_object(%1$L, new.%1$I);
          end if;', attname), ' ' order by attnum) into kept, comparisons
        from pg_attribute where attrelid = logged and attnum > 0 and not attisdropped and attname <> all (without);
      execute format('create or replace function %I() returns trigger language plpgsql as %L', changed, format('
        declare
          before jsonb := ''{}'';
          after jsonb := ''{}'';
        begin
          if tg_op = ''DELETE'' then
            insert into pending_changes (type, uuid, action, before)
              -- Logins are not logged, but a restored user has its last one.
              values (%1$L, old.uuid, ''deleted'', jsonb_strip_nulls(to_jsonb(old) - array_remove(%2$L::text[], ''last_login_at'')));
          else %3$s
            if after <> ''{}'' then
              insert into pending_changes (type, uuid, action, before, after) values (%1$L, new.uuid, ''updated'', before, after);
            end if;
          end if;
          return null;
        end', type, without, comparisons));
      execute format('create or replace function %I() returns trigger language plpgsql as %L', inserted, format('
        begin
          insert into pending_changes (type, uuid, action, after)
            select %1$L, n.uuid, ''created'', jsonb_strip_nulls(to_jsonb(logged))
            from new_rows n, lateral (select %2$s offset 0) logged;
          insert into %3$I (uuid, edited_at) select uuid, edited_at from new_rows;
          insert into row_counts (relation, delta) select %4$L, count(*) from new_rows having count(*) > 0;
          %5$s
          return null;
        end', type, kept, logged || '_edits', logged::text, also));
      execute format('create or replace trigger logged after update or delete on %s
        for each row execute function %I()', logged, changed);
      execute format('create or replace trigger inserted after insert on %s referencing new table as new_rows
        for each statement execute function %I()', logged, inserted);
    end $$`)
  for (const { table, type, without } of records) {
    for (const trigger of ["count_inserted", "edits_inserted"]) yield* sql.unsafe(`drop trigger ${trigger} on ${table}`)
    yield* sql`call waypost_log_records(${table}::text::regclass, ${type}::text, ${without}::text[], ${also[table] ?? ""}::text)`
  }
  yield* sql`drop trigger add_postal_codes on locations`
  yield* sql.unsafe(`
    create or replace procedure waypost_log_table(logged regclass, type text, without text[]) language plpgsql as $$
    begin
      raise exception 'Call waypost_log_records';
    end $$`)

  // PL/pgSQL evaluates an expression several times as fast as SQL does in a function that cannot be inlined.
  yield* sql.unsafe(`
    create or replace function waypost_position(latitude float8, longitude float8) returns cube
    language plpgsql immutable strict parallel safe as $$
    begin
      return cube(array[cos(radians(latitude)) * cos(radians(longitude)), cos(radians(latitude)) * sin(radians(longitude)),
        sin(radians(latitude))]);
    end $$`)
  yield* sql.unsafe(`
    create or replace function waypost_event_digest(salt bytea, label text, before jsonb, after jsonb, links jsonb) returns bytea
    language plpgsql immutable parallel safe as $$
    begin
      return sha256(salt || convert_to(jsonb_build_array(label, before, after, links)::text, 'UTF8'));
    end $$`)
  yield* sql.unsafe(`
    create or replace function waypost_event_text(place bigint, id uuid, type text, action text, record uuid, occurred_at timestamptz,
      sealed_at timestamptz, actor jsonb) returns bytea language plpgsql immutable parallel safe as $$
    begin
      return convert_to(jsonb_build_array(place, id, type, action, record, (extract(epoch from occurred_at) * 1000)::bigint,
        (extract(epoch from sealed_at) * 1000)::bigint, actor)::text, 'UTF8');
    end $$`)
  yield* sql.unsafe(`
    create or replace function waypost_next_hash(previous bytea, first bytea, content bytea) returns bytea
    language plpgsql immutable parallel safe as $$
    begin
      return sha256(coalesce(previous, first) || content);
    end $$`)

  // As before, but a random number for all events that are sealed at once: each took as long as its hash.
  yield* sql.unsafe(`
    create or replace function waypost_seal(batch int default 20000) returns int language plpgsql as $$
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
        select t.*, (lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0') || '7' ||
            left(encode(substr(random, 17, 2), 'hex'), 3) || to_hex((-9223372036854775808)::bigint | place))::uuid as id,
          greatest(head.now, max(at) over (order by nth)) as sealed_at,
          waypost_event_digest(salt, label, before, after, links) as digest,
          coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)
            + coalesce(octet_length(links::text), 0) as bytes
        from (
          select timed.*, head.position + nth as place, random, substr(random, 1, 16) as salt
          from timed, lateral (select sha256(seed || int8send(nth)) as random offset 0) numbers
        ) t
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
