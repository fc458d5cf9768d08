import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The events whose values name what an erasure removed: `after` has the member `erased`, an object of the digest of what
  // remains by position. The chain of hashes covers it.
  yield* sql`create table event_erasures (position bigint primary key)`

  // A state without the members at these paths.
  yield* sql.unsafe(`
    create function waypost_without(state jsonb, paths jsonb) returns jsonb language plpgsql immutable parallel safe as $$
    declare
      path jsonb;
    begin
      for path in select jsonb_array_elements(paths) loop
        state := state #- array(select jsonb_array_elements_text(path));
      end loop;
      return state;
    end $$`)

  // Notes an erasure in the log and seals it, so that it is committed together with what it removed.
  yield* sql.unsafe(`
    create function waypost_log_erasure(record_type text, record uuid, kind text, erased jsonb) returns void
    language plpgsql as $$
    begin
      insert into pending_changes (type, uuid, action, after) values (record_type, record, kind, jsonb_build_object('erased', erased));
      perform waypost_seal_all();
      insert into event_erasures select position from events where record_uuid = record and after ? 'erased'
        order by position desc limit 1;
    end $$`)

  // Seals what is pending, the changes of this transaction included. No other process seals until the transaction ends.
  yield* sql.unsafe(`
    create function waypost_seal_all() returns void language plpgsql as $$
    begin
      perform from event_log for update;
      while waypost_seal() > 0 loop null; end loop;
    end $$`)

  // Removes the values of the events of a deleted record, and returns how many events it has; none if it was erased already.
  yield* sql.unsafe(`
    create function waypost_erase(record_type text, record uuid) returns int language plpgsql as $$
    declare
      erased jsonb;
      found int;
    begin
      perform waypost_seal_all();
      select count(*) into found from events where record_uuid = record;
      with blank as (
        update events e set label = null, before = null, after = null, bytes = coalesce(octet_length(e.links::text), 0),
            salt = case when e.links is not null then uuid_send(gen_random_uuid()) end
          where record_uuid = record and action <> 'erased' and num_nonnulls(label, before, after) > 0
          returning position, case when salt is not null then
            encode(waypost_event_digest(salt, label, before, after, links), 'hex') end as rest
      ) select jsonb_object_agg(position, rest) into erased from blank;
      if erased is not null then perform waypost_log_erasure(record_type, record, 'erased', erased); end if;
      return found;
    end $$`)

  // Removes the values at some paths, arrays of names, from the events of a record, and returns how many events it has.
  yield* sql.unsafe(`
    create function waypost_erase_paths(record_type text, record uuid, paths jsonb) returns int language plpgsql as $$
    declare
      erased jsonb;
      found int;
      labels boolean := exists (
        select from jsonb_array_elements(paths) path where waypost_label(record_type, jsonb_build_object(path->>0, '')) is not null);
    begin
      perform waypost_seal_all();
      select count(*) into found from events where record_uuid = record;
      with changed as (
        select position, waypost_without(before, paths) as before, waypost_without(after, paths) as after,
          case when not labels then label end as label, uuid_send(gen_random_uuid()) as salt
        from events where record_uuid = record and not position in (select position from event_erasures)
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

  // Removes the oldest events that were sealed before a time, at most a batch, and returns how many.
  yield* sql.unsafe(`
    create function waypost_prune(before timestamptz, batch int) returns int language plpgsql as $$
    declare
      first bigint;
      reached bigint;
    begin
      select pruned_position into first from event_log for update skip locked;
      if not found then return 0; end if;
      reached := least(first + batch, waypost_position_at(before));
      if reached <= first then return 0; end if;
      with gone as (
        delete from events where position > first and position <= reached returning position, hash, sealed_at, links
      ), unlinked as (
        delete from event_links l using (
          select distinct position, member::uuid as uuid from gone, jsonb_array_elements(gone.links) link,
            lateral jsonb_array_elements_text((link->'added') || (link->'removed')) member
        ) m where l.position = m.position and l.uuid = m.uuid
      )
      update event_log set (pruned_position, pruned_hash, pruned_at) =
        (select position, hash, sealed_at from gone order by position desc limit 1);
      delete from event_erasures where position <= reached;
      return reached - first;
    end $$`)
})
