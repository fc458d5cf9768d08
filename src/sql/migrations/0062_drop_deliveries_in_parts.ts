import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What replaces a part of the source of a function. */
const replacements = [
  [
    "waypost_webhook_moved()",
    "delete from webhook_queue where webhook_uuid = new.uuid;",
    "perform waypost_drop_deliveries(new.uuid);"
  ],
  [
    "waypost_queue_deliveries(int)",
    "and not exists (select from webhook_replays) then",
    "and not exists (select from webhook_replays) and not exists (select from webhook_dropped) then"
  ],
  [
    "waypost_queue_deliveries(int)",
    "perform from webhooks order by uuid for no key update;",
    "perform from webhooks order by uuid for no key update; perform waypost_remove_dropped(batch);"
  ],
  // The events that were dropped are not behind the position from which the webhook receives.
  [
    "waypost_queue_deliveries(int)",
    "q.record_uuid = p.record_uuid and not q.is_replay)",
    "q.record_uuid = p.record_uuid and not q.is_replay and q.position > s.from_position)"
  ],
  [
    "waypost_take_deliveries(interval)",
    "where w.state = 'active' and exists",
    "where w.state = 'active' and not exists (select from webhook_dropped d where d.webhook_uuid = w.uuid) and exists"
  ]
] as const

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // In the order of the functions below, which lock webhooks first.
  yield* sql`lock table webhooks, webhook_queue, webhook_deliveries in access exclusive mode`

  // The queues of which a part was dropped, up to an id, and is not removed yet. A webhook can have any number of waiting events,
  // more than one statement deletes in its time; one that is in this table delivers nothing.
  yield* sql`create table webhook_dropped (webhook_uuid uuid primary key, queue_id bigint not null)`
  yield* sql.unsafe(`
    create function waypost_drop_deliveries(webhook uuid) returns void language plpgsql as $$
    begin
      insert into webhook_dropped (webhook_uuid, queue_id)
        values (webhook, nextval(pg_get_serial_sequence('webhook_queue', 'id')))
        on conflict (webhook_uuid) do update set queue_id = excluded.queue_id;
    end $$`)

  // Removes a part of what was dropped, and of the attempts of webhooks that were deleted.
  yield* sql.unsafe(`
    create function waypost_remove_dropped(batch int) returns void language plpgsql as $$
    declare
      dropped record;
      removed int;
      rest int := batch;
    begin
      for dropped in select * from webhook_dropped order by queue_id loop
        exit when rest <= 0;
        delete from webhook_queue where id = any (array(
          select q.id from webhook_queue q where q.webhook_uuid = dropped.webhook_uuid and q.id <= dropped.queue_id
            order by q.position limit rest));
        get diagnostics removed = row_count;
        rest := rest - removed;
        if rest > 0 and not exists (select from webhooks where uuid = dropped.webhook_uuid) then
          delete from webhook_deliveries where id = any (array(
            select d.id from webhook_deliveries d where d.webhook_uuid = dropped.webhook_uuid order by d.at, d.id limit rest));
          get diagnostics removed = row_count;
          rest := rest - removed;
        end if;
        if rest > 0 then delete from webhook_dropped where webhook_uuid = dropped.webhook_uuid; end if;
      end loop;
    end $$`)

  for (const [name, before, after] of replacements) {
    yield* sql.unsafe(`
      do $do$
      declare
        source text := pg_get_functiondef('${name}'::regprocedure);
      begin
        if strpos(source, $part$${before}$part$) = 0 then raise exception '${name} has another source'; end if;
        execute replace(source, $part$${before}$part$, $part$${after}$part$);
      end $do$`)
  }

  // As before, but without what was dropped. Of events that are no replays, that is not behind the position from which the webhook
  // receives, or behind the gap of one that is not active.
  yield* sql.unsafe(`
    create or replace function waypost_resume_position(webhook uuid) returns bigint language sql stable
    return (select least(s.gap_position, greatest(s.from_position, (select position from webhook_feed)),
        case when d.queue_id is null then (select min(q.position) - 1 from webhook_queue q where q.webhook_uuid = webhook)
          else least(
            (select min(q.position) - 1 from webhook_queue q where q.webhook_uuid = webhook and q.position > s.from_position),
            (select min(q.position) - 1 from webhook_queue q
              where q.webhook_uuid = webhook and q.is_replay and q.id > d.queue_id)) end,
        (select min(r.position) from webhook_replays r where r.webhook_uuid = webhook))
      from webhook_states s left join webhook_dropped d on d.webhook_uuid = s.webhook_uuid where s.webhook_uuid = webhook)`)

  // The deletion of a webhook drops what it has in the two tables without limit.
  yield* sql`alter table webhook_queue drop constraint webhook_queue_webhook_uuid_fkey`
  yield* sql`alter table webhook_deliveries drop constraint webhook_deliveries_webhook_uuid_fkey`
  yield* sql.unsafe(`
    create function waypost_webhook_removed() returns trigger language plpgsql as $$
    begin
      perform waypost_drop_deliveries(old.uuid);
      return null;
    end $$`)
  yield* sql`create trigger removed after delete on webhooks for each row execute function waypost_webhook_removed()`
})
