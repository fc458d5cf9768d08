import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What of the replays of a webhook waits is counted without its other events, of which a dead receiver has any number.
  yield* sql`create index webhook_queue_replays on webhook_queue (webhook_uuid) where is_replay`

  // As before, but of the replays of a webhook only the oldest is filled, and all webhooks share what one call adds of replays:
  // any number of rows in webhook_replays costs one batch. Each of them added a batch, until the call took longer than a
  // statement may.
  yield* sql.unsafe(`
    create or replace function waypost_queue_deliveries(batch int) returns void language plpgsql as $$
    declare
      head bigint;
      stop bigint;
      replay record;
      added record;
    begin
      select position into stop from event_log;
      if not exists (select from webhook_feed where position < stop) and not exists (select from webhook_replays) then
        return;
      end if;
      select position into head from webhook_feed for update skip locked;
      if not found then return; end if;
      perform from webhooks where state = 'active' order by uuid for no key update;
      if found and head < stop then
        stop := least(stop, head + batch);
        with part as (
          select position, type, action, record_uuid, bytes from events where position > head and position <= stop
        ), selected as (
          select w.uuid, s.from_position, kind.type, kind.action from (select distinct type, action from part) kind
            join webhooks w on w.state = 'active' and waypost_selects(w.types, kind.type, kind.action)
            join webhook_states s on s.webhook_uuid = w.uuid
        ) insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_head)
          select s.uuid, p.position, p.record_uuid, p.bytes,
            row_number() over (partition by s.uuid, p.record_uuid order by p.position) = 1 and not exists (
              select from webhook_queue q
                where q.webhook_uuid = s.uuid and q.record_uuid = p.record_uuid and not q.is_replay)
          from part p join selected s using (type, action) where p.position > s.from_position order by p.position;
      end if;
      update webhook_feed set position = stop where position < stop;
      for replay in
        with oldest as (
          select distinct on (webhook_uuid) * from webhook_replays order by webhook_uuid, id
        ), open as (
          select o.*, w.types, batch - (select count(*) from (
              select from webhook_queue q where q.webhook_uuid = w.uuid and q.is_replay limit batch
            ) waiting) as room
            from oldest o join webhooks w on w.uuid = o.webhook_uuid and w.state = 'active'
        ) select id, webhook_uuid, position, least(until, position + batch) as stop, until, since, types,
            least(room, greatest(batch / count(*) over (), 1)) as share
          from open where room > 0 order by id
      loop
        with part as (
          insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_replay, is_head)
            select replay.webhook_uuid, e.position, e.record_uuid, e.bytes, true, true from events e
              where e.position > replay.position and e.position <= replay.stop
                and waypost_selects(replay.types, e.type, e.action) and (replay.since is null or e.occurred_at >= replay.since)
              order by e.position limit replay.share
            returning position
        ) select count(*) as count, max(position) as last into added from part;
        if added.count = replay.share then replay.stop := added.last; end if;
        if replay.stop = replay.until then delete from webhook_replays where id = replay.id;
        else update webhook_replays set position = replay.stop where id = replay.id; end if;
      end loop;
    end $$`)
})
