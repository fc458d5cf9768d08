import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table webhooks (
      uuid uuid primary key,
      url text not null collate "C",
      types text[] not null,
      description text collate "C",
      state text not null collate "C" default 'active',
      created_by uuid references api_keys (uuid),
      secret_rotated_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      edited_at timestamptz(3) not null default now()
    )`
  yield* sql`create index webhooks_created_at on webhooks (created_at, uuid)`
  yield* sql`call waypost_count('webhooks')`

  // In a table of its own, so that neither a list nor the log can contain one.
  yield* sql`
    create table webhook_secrets (
      id bigint generated always as identity primary key,
      webhook_uuid uuid not null references webhooks (uuid) on delete cascade,
      secret bytea not null,
      -- The end of the overlap after a rotation; null for the current one.
      expires_at timestamptz(3)
    )`
  yield* sql`create index webhook_secrets_webhook on webhook_secrets (webhook_uuid, id)`

  // What deliveries change about a webhook. The lock of the row in \`webhooks\` guards it, and the queue of the webhook.
  yield* sql`
    create table webhook_states (
      webhook_uuid uuid primary key references webhooks (uuid) on delete cascade,
      -- Events up to this position are from before its creation or activation.
      from_position bigint not null,
      -- The position before the oldest event that a pause dropped, until a replay sends it.
      gap_position bigint,
      last_success_at timestamptz(3),
      last_failure_at timestamptz(3),
      failures_in_a_row int not null default 0,
      failing_since timestamptz(3)
    )`

  // Events to be delivered. The first event of a record, and every replayed one, is a head; only heads are sent. A row that a
  // process has taken is due again when its time ends.
  yield* sql`
    create table webhook_queue (
      id bigint generated always as identity primary key,
      webhook_uuid uuid not null references webhooks (uuid) on delete cascade,
      position bigint not null,
      record_uuid uuid not null,
      bytes int not null,
      is_replay boolean not null default false,
      is_head boolean not null,
      attempts int not null default 0,
      queued_at timestamptz(3) not null default now(),
      due_at timestamptz(3) not null default now(),
      taken_until timestamptz(3)
    ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`
  yield* sql`create index webhook_queue_due on webhook_queue (webhook_uuid, due_at) where is_head`
  yield* sql`create index webhook_queue_record on webhook_queue (webhook_uuid, record_uuid, position) where not is_replay`
  yield* sql`create index webhook_queue_position on webhook_queue (webhook_uuid, position)`
  yield* sql`create index webhook_queue_pending on webhook_queue (webhook_uuid, queued_at, id) where attempts = 0`
  yield* sql`create index webhook_queue_taken on webhook_queue (webhook_uuid) where taken_until is not null`

  // Parts of the log that are to be sent again, from which the queue is filled little by little.
  yield* sql`
    create table webhook_replays (
      id bigint generated always as identity primary key,
      webhook_uuid uuid not null references webhooks (uuid) on delete cascade,
      position bigint not null,
      until bigint not null,
      -- The earliest time of the events; null for any.
      since timestamptz(3)
    )`
  yield* sql`create index webhook_replays_webhook on webhook_replays (webhook_uuid)`

  // The attempts of the last 30 days.
  yield* sql`
    create table webhook_deliveries (
      id bigint generated always as identity primary key,
      webhook_uuid uuid not null references webhooks (uuid) on delete cascade,
      event_id uuid not null,
      event_type text not null collate "C",
      attempt int not null,
      state text not null collate "C",
      status int,
      error text collate "C",
      duration_ms int,
      at timestamptz(3) not null,
      next_attempt_at timestamptz(3)
    ) with (fillfactor = 100)`
  yield* sql`create index webhook_deliveries_webhook on webhook_deliveries (webhook_uuid, at, id)`
  yield* sql`create index webhook_deliveries_at on webhook_deliveries (at)`

  // The position up to which the log was read for the queue.
  yield* sql`create table webhook_feed (position bigint not null)`
  yield* sql`insert into webhook_feed select position from event_log`

  yield* sql`call waypost_log_table('webhooks', 'webhook', '{}')`

  yield* sql.unsafe(`
    create function waypost_webhook_created() returns trigger language plpgsql as $$
    begin
      insert into webhook_states (webhook_uuid, from_position, gap_position)
        select new.uuid, position, case when new.state <> 'active' then position end from event_log;
      return null;
    end $$`)
  yield* sql`create trigger created after insert on webhooks for each row execute function waypost_webhook_created()`

  // Whether a webhook of these types receives an event. A login, which is in the log as touched, is none.
  yield* sql.unsafe(`
    create function waypost_selects(types text[], type text, action text) returns boolean
    language sql immutable parallel safe
    return action <> 'touched' and types && array['*', type || '.*', '*.' || action, type || '.' || action]`)

  // The position before the oldest event that was neither delivered nor given up.
  yield* sql.unsafe(`
    create function waypost_resume_position(webhook uuid) returns bigint language sql stable
    return (select least(s.gap_position, greatest(s.from_position, (select position from webhook_feed)),
        (select min(q.position) - 1 from webhook_queue q where q.webhook_uuid = webhook),
        (select min(r.position) from webhook_replays r where r.webhook_uuid = webhook))
      from webhook_states s where s.webhook_uuid = webhook)`)

  // A webhook that is no longer active drops what is pending and remembers where it stopped. One that becomes active begins
  // anew; it forgets that place when it has missed no event since, as far as a short search shows.
  yield* sql.unsafe(`
    create function waypost_webhook_moved() returns trigger language plpgsql as $$
    begin
      if new.state = 'active' then
        update webhook_states s set from_position = log.position, failures_in_a_row = 0, failing_since = null,
            gap_position = case when log.position - s.gap_position > 10000 or exists (
              select from events e where e.position > s.gap_position and e.position <= log.position
                and waypost_selects(new.types, e.type, e.action)) then s.gap_position end
          from event_log log where s.webhook_uuid = new.uuid;
      else
        update webhook_states set gap_position = waypost_resume_position(new.uuid) where webhook_uuid = new.uuid;
        delete from webhook_queue where webhook_uuid = new.uuid;
        delete from webhook_replays where webhook_uuid = new.uuid;
      end if;
      return null;
    end $$`)
  yield* sql`
    create trigger moved after update of state on webhooks for each row when (old.state is distinct from new.state)
      execute function waypost_webhook_moved()`

  // Revoking a key pauses the webhooks that it created.
  yield* sql.unsafe(`
    create function waypost_key_revoked() returns trigger language plpgsql as $$
    begin
      update webhooks set state = 'paused', edited_at = greatest(now(), edited_at + interval '1 millisecond')
        where created_by = new.uuid and state <> 'paused';
      return null;
    end $$`)
  yield* sql`
    create trigger revoked after update of revoked_at on api_keys for each row
      when (old.revoked_at is null and new.revoked_at is not null) execute function waypost_key_revoked()`

  // Reads the log on and fills the queue; does nothing while another process does it. The locks of the webhooks make the next
  // statement see what other transactions removed from the queue, so that it finds the heads.
  yield* sql.unsafe(`
    create function waypost_queue_deliveries(batch int) returns void language plpgsql as $$
    declare
      head bigint;
      stop bigint;
      replay record;
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
        select r.id, r.webhook_uuid, r.position, least(r.until, r.position + batch) as stop, r.until, r.since, w.types
          from webhook_replays r join webhooks w on w.uuid = r.webhook_uuid and w.state = 'active'
          where (select count(*) from (
            select from webhook_queue q where q.webhook_uuid = w.uuid and q.is_head and q.is_replay limit batch
          ) waiting) < batch order by r.id
      loop
        insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_replay, is_head)
          select replay.webhook_uuid, e.position, e.record_uuid, e.bytes, true, true from events e
            where e.position > replay.position and e.position <= replay.stop
              and waypost_selects(replay.types, e.type, e.action) and (replay.since is null or e.occurred_at >= replay.since)
            order by e.position;
        if replay.stop = replay.until then delete from webhook_replays where id = replay.id;
        else update webhook_replays set position = replay.stop where id = replay.id; end if;
      end loop;
    end $$`)

  // Takes what is due: of each webhook as much as it has free connections, and at most 4 MiB at once. A webhook whose last 32
  // attempts failed has one connection.
  yield* sql.unsafe(`
    create function waypost_take_deliveries(lease interval) returns setof webhook_queue language plpgsql as $$
    declare
      hook record;
      busy record;
    begin
      for hook in
        select w.uuid, case when s.failures_in_a_row >= 32 then 1 else 32 end as connections
          from webhooks w join webhook_states s on s.webhook_uuid = w.uuid
          where w.state = 'active' and exists (select from webhook_queue q
            where q.webhook_uuid = w.uuid and q.is_head and q.due_at <= clock_timestamp())
          order by w.uuid for no key update of w skip locked
      loop
        select count(*) as count, coalesce(sum(bytes), 0) as bytes into busy
          from webhook_queue where webhook_uuid = hook.uuid and taken_until > clock_timestamp();
        continue when busy.count >= hook.connections;
        return query with due as (
          select q.id, q.bytes, q.due_at from webhook_queue q
            where q.webhook_uuid = hook.uuid and q.is_head and q.due_at <= clock_timestamp()
            order by q.due_at, q.id limit hook.connections - busy.count
        ), sized as (
          select id, busy.bytes + sum(bytes) over (order by due_at, id) - bytes as before,
            busy.count + row_number() over (order by due_at, id) as nth from due
        ) update webhook_queue q set taken_until = clock_timestamp() + lease, due_at = clock_timestamp() + lease
          from sized where q.id = sized.id and (sized.nth = 1 or sized.before < 4194304) returning q.*;
      end loop;
    end $$`)

  // Records attempts: removes what was delivered or given up, makes the next event of its record a head, and delays the others.
  // Of an attempt it takes how long ago it began, because the clock of the process may be wrong.
  yield* sql.unsafe(`
    create function waypost_finish_deliveries(outcomes jsonb) returns void language plpgsql as $$
    declare
      concerned uuid[];
    begin
      select array_agg(w.uuid) into concerned from (
        select uuid from webhooks where uuid in (select (o->>'webhook')::uuid from jsonb_array_elements(outcomes) o)
          order by uuid for no key update
      ) w;
      with outcome as (
        select o.*, now() - make_interval(secs => o.age / 1000) as at
          from jsonb_to_recordset(outcomes) o (id bigint, webhook uuid, "eventId" uuid, "eventType" text, attempt int,
            state text, status int, error text, millis int, age float8, retry float8) where o.webhook = any (concerned)
      ), done as (
        delete from webhook_queue q using outcome o where q.id = o.id and o.state in ('delivered', 'givenUp') returning q.*
      ), advanced as (
        update webhook_queue q set is_head = true from done d where not d.is_replay and q.id = (
          select n.id from webhook_queue n where n.webhook_uuid = d.webhook_uuid and n.record_uuid = d.record_uuid
            and n.position > d.position and not n.is_replay order by n.position limit 1)
      ), delayed as (
        update webhook_queue q set attempts = o.attempt, taken_until = null, due_at = now() + make_interval(secs => o.retry)
          from outcome o where q.id = o.id and o.state = 'failed' and q.attempts < o.attempt
      ), recorded as (
        insert into webhook_deliveries (webhook_uuid, event_id, event_type, attempt, state, status, error, duration_ms, at,
            next_attempt_at)
          select webhook, "eventId", "eventType", attempt, state, status, error, millis, at,
            case when state = 'failed' and status is distinct from 410 then now() + make_interval(secs => retry) end
          from outcome where "eventId" is not null order by at
      ), counted as (
        select webhook, max(at) filter (where state = 'delivered') as success,
          max(at) filter (where state <> 'delivered') as failure from outcome group by webhook
      ), failures as (
        select c.*, count(o.id) as count, min(o.at) as since from counted c left join outcome o on o.webhook = c.webhook
          and o.state <> 'delivered' and (c.success is null or o.at > c.success) group by c.webhook, c.success, c.failure
      ) update webhook_states s set
          last_success_at = coalesce(greatest(s.last_success_at, f.success), s.last_success_at),
          last_failure_at = coalesce(greatest(s.last_failure_at, f.failure), s.last_failure_at),
          failures_in_a_row = case when f.success is null then s.failures_in_a_row else 0 end + f.count,
          failing_since = case when f.success is null then coalesce(s.failing_since, f.since) else f.since end
        from failures f where s.webhook_uuid = f.webhook;
      update webhooks w set edited_at = greatest(now(), w.edited_at + interval '1 millisecond'),
          state = case when gone.webhook is null then 'failing' else 'paused' end
        from webhook_states s left join (
          select distinct (o->>'webhook')::uuid as webhook from jsonb_array_elements(outcomes) o where o->>'status' = '410'
        ) gone on gone.webhook = s.webhook_uuid
        where w.uuid = s.webhook_uuid and w.uuid = any (concerned) and w.state = 'active'
          and (gone.webhook is not null or s.failing_since <= now() - interval '5 days');
    end $$`)
})
