import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What replaces a part of the source of a function. */
const replacements = [
  // Without webhooks the log is not read on. Of what it has had since, no webhook receives an event.
  [
    "waypost_queue_deliveries(int)",
    "perform waypost_remove_dropped(batch);",
    `perform waypost_remove_dropped(batch);
      head := greatest(head, (select min(s.from_position) from webhook_states s join webhooks w on w.uuid = s.webhook_uuid
        where w.state = 'active'));`
  ],
  // A row whose event was pruned, or is of no type that the webhook receives, is removed, and says nothing about the receiver.
  [
    "waypost_finish_deliveries(jsonb)",
    "max(at) filter (where state <> 'delivered') as failure from outcome group by webhook",
    `max(at) filter (where state <> 'delivered') as failure from outcome where "eventId" is not null group by webhook`
  ],
  [
    "waypost_finish_deliveries(jsonb)",
    "and o.state <> 'delivered' and (c.success is null",
    `and o.state <> 'delivered' and o."eventId" is not null and (c.success is null`
  ],
  // Such rows are taken also while a webhook has one connection, because nothing is sent for them.
  ["waypost_take_deliveries(interval)", "select w.uuid, case when", "select w.uuid, w.types, case when"],
  [
    "waypost_take_deliveries(interval)",
    "continue when busy.count >= hook.connections;",
    "continue when busy.count >= 32;"
  ],
  [
    "waypost_take_deliveries(interval)",
    `with due as (
          select q.id, q.bytes, q.due_at from webhook_queue q
            where q.webhook_uuid = hook.uuid and q.is_head and q.due_at <= clock_timestamp()
            order by q.due_at, q.id limit hook.connections - busy.count
        ), sized as (`,
    `with heads as (
          select q.id, q.bytes, q.due_at, exists (select from events e
              where e.position = q.position and waypost_selects(hook.types, e.type, e.action)) as is_sent
            from webhook_queue q
            where q.webhook_uuid = hook.uuid and q.is_head and q.due_at <= clock_timestamp()
            order by q.due_at, q.id limit 32 - busy.count
        ), counted as (
          select *, count(*) filter (where is_sent) over (order by due_at, id) as nth_sent from heads
        ), due as (
          select * from counted where not is_sent or nth_sent <= hook.connections - busy.count
        ), sized as (`
  ],
  // Status 410 is about the URL that answered it. The version before does not say which that was.
  [
    "waypost_finish_deliveries(jsonb)",
    "now() - make_interval(secs => o.age / 1000) as at",
    `now() - make_interval(secs => o.age / 1000) as at, o.status = 410 and exists (
            select from webhooks w where w.uuid = o.webhook and w.url = coalesce(o.url, w.url)) as is_gone`
  ],
  ["waypost_finish_deliveries(jsonb)", "age float8, retry float8)", "age float8, retry float8, url text)"],
  [
    "waypost_finish_deliveries(jsonb)",
    "state = 'failed' and status is distinct from 410 then",
    "state = 'failed' and is_gone is not true then"
  ],
  [
    "waypost_finish_deliveries(jsonb)",
    "select distinct (o->>'webhook')::uuid as webhook from jsonb_array_elements(outcomes) o where o->>'status' = '410'",
    `select distinct w.uuid as webhook from jsonb_array_elements(outcomes) o
            join webhooks w on w.uuid = (o->>'webhook')::uuid and w.url = coalesce(o->>'url', w.url)
          where o->>'status' = '410'`
  ]
] as const

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

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

  // As before, but not before the events that are left: those that were pruned cannot be sent.
  yield* sql.unsafe(`
    create or replace function waypost_resume_position(webhook uuid) returns bigint language sql stable
    return (select greatest(log.pruned_position, least(s.gap_position,
        greatest(s.from_position, (select position from webhook_feed)),
        case when d.queue_id is null then (select min(q.position) - 1 from webhook_queue q where q.webhook_uuid = webhook)
          else least(
            (select min(q.position) - 1 from webhook_queue q where q.webhook_uuid = webhook and q.position > s.from_position),
            (select min(q.position) - 1 from webhook_queue q
              where q.webhook_uuid = webhook and q.is_replay and q.id > d.queue_id)) end,
        (select min(r.position) from webhook_replays r where r.webhook_uuid = webhook)))
      from webhook_states s left join webhook_dropped d on d.webhook_uuid = s.webhook_uuid, event_log log
      where s.webhook_uuid = webhook)`)
  // Of a busy webhook, the few attempts that failed are found without those that did not. Last, because no attempt is recorded from
  // here to the end.
  yield* sql`
    create index webhook_deliveries_state on webhook_deliveries (webhook_uuid, state, at, id) where state <> 'delivered'`
})
