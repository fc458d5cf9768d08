import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What changes after a place in the log replaced: the values of the columns of each record, and whether the first
  // creation or deletion after it created or deleted the record. The place of an event is its position; changes that are
  // not sealed yet come after all events.
  yield* sql.unsafe(`
    create function waypost_pending_place(id bigint) returns bigint language sql immutable parallel safe
    return 4611686018427387904 + id`)
  yield* sql.unsafe(`
    create function waypost_undone(records uuid[], beyond bigint, since timestamptz)
    returns table (uuid uuid, boundary text, before jsonb) language sql stable as $$
      with later as materialized (
        select e.record_uuid as uuid, e.position as place, 0 as step, e.before, case
            when e.action = 'deleted' then 'deleted'
            when e.action = 'created' or e.action = 'restored' and e.before is null and e.after is not null then 'created'
          end as boundary
        from unnest(records) wanted (uuid)
        join events e on e.record_uuid = wanted.uuid and e.position > beyond and e.occurred_at > since
        union all
        select p.uuid, p.place, p.id, p.before, case when p.created then 'created' when p.deleted then 'deleted' end
        from (
          select p.uuid, p.id, p.before, waypost_pending_place(max(p.id) over own) as place, max(p.at) over own as at,
            bool_or(p.action = 'created') over own as created, bool_or(p.action = 'deleted') over own as deleted
          from pending_changes p where p.uuid = any (records) window own as (partition by p.tx, p.uuid)
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

  // The relations of a record that were added and removed after a place in the log, from both sides. `kind` is the path by
  // which the other side names the record.
  yield* sql.unsafe(`
    create function waypost_relinked(record uuid, kind text, beyond bigint, since timestamptz)
    returns table (place bigint, path text, member uuid, added boolean) language sql stable as $$
      with later as (
        select e.position as place, e.record_uuid as owner, e.type, e.links from events e
        where e.record_uuid = record and e.position > beyond and e.occurred_at > since and e.links is not null
        union all
        select e.position, e.record_uuid, e.type, e.links from event_links l join events e on e.position = l.position
        where l.uuid = record and l.position > beyond and e.occurred_at > since and e.record_uuid <> record
        union all
        select waypost_pending_place(p.id), p.uuid, p.type, jsonb_build_array(p.links) from pending_changes p
        where p.links is not null and waypost_pending_place(p.id) > beyond and p.at > since
      ), changed as (
        select l.place, l.owner, l.type, link->>'path' as path, member::uuid, added
        from later l, jsonb_array_elements(l.links) link, lateral (
          select member, true as added from jsonb_array_elements_text(link->'added') member
          union all select member, false from jsonb_array_elements_text(link->'removed') member
        ) members
      ) select place, path, member, added from changed where owner = record
      union all
      select place, type || 's', owner, added from changed where member = record and path = kind
    $$`)

  // Finds the variants that a product had.
  yield* sql`
    create index events_parent on events ((before->>'parent_uuid')) where type = 'product' and before->>'parent_uuid' is not null`

  // The facts about files that assets had stay after their bytes are gone, and it is known since when a file is rendered.
  yield* sql`alter table files add column rendered_at timestamptz(3)`
  yield* sql.unsafe(`
    create function waypost_note_rendering() returns trigger language plpgsql as $$
    begin
      new.rendered_at := coalesce(old.rendered_at, clock_timestamp());
      return new;
    end $$`)
  yield* sql`
    create trigger rendered before update of processing on files for each row
    when (new.processing <> 'pending') execute function waypost_note_rendering()`
  yield* sql`
    create table past_files (
      uuid uuid primary key,
      file_name text not null collate "C",
      extension text not null collate "C",
      mime_type text not null collate "C",
      size bigint not null,
      sha256 text not null collate "C",
      path_name text not null collate "C",
      url_name text not null collate "C",
      processing text not null collate "C",
      width int,
      height int,
      duration float8,
      rendered_at timestamptz(3)
    )`
  yield* sql.unsafe(`
    create function waypost_keep_facts() returns trigger language plpgsql as $$
    begin
      insert into past_files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing, width,
          height, duration, rendered_at)
        select uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing, width, height, duration,
          rendered_at
        from old_rows where unattached_since is distinct from created_at
        on conflict do nothing;
      return null;
    end $$`)
  yield* sql`
    create trigger facts_kept after delete on files referencing old table as old_rows
    for each statement execute function waypost_keep_facts()`
})
