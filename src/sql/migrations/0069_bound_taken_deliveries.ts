import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As before, but all webhooks together take no more after 8 MiB, because the process has these events in memory. What a webhook has
  // little of goes first: bytes count less the longer an event is due, so that a large one does not wait for ever. A row of which
  // nothing is sent counts as no bytes.
  yield* sql.unsafe(`
    create or replace function waypost_take_deliveries(lease interval) returns setof webhook_queue language plpgsql as $$
    declare
      hook record;
      busy record;
      part record;
      ids bigint[] := '{}';
      sizes bigint[] := '{}';
      costs float8[] := '{}';
    begin
      for hook in
        select w.uuid, w.types, case when s.failures_in_a_row >= 32 then 1 else 32 end as connections
          from webhooks w join webhook_states s on s.webhook_uuid = w.uuid
          where w.state = 'active' and not exists (select from webhook_dropped d where d.webhook_uuid = w.uuid)
            and exists (select from webhook_queue q
              where q.webhook_uuid = w.uuid and q.is_head and q.due_at <= clock_timestamp())
          order by w.uuid for no key update of w skip locked
      loop
        select count(*) as count, coalesce(sum(bytes), 0) as bytes into busy
          from webhook_queue where webhook_uuid = hook.uuid and taken_until > clock_timestamp();
        continue when busy.count >= 32;
        with due as (
          select q.id, q.bytes, q.due_at, exists (select from events e
              where e.position = q.position and waypost_selects(hook.types, e.type, e.action)) as is_sent
            from webhook_queue q
            where q.webhook_uuid = hook.uuid and q.is_head and q.due_at <= clock_timestamp()
            order by q.due_at, q.id limit 32 - busy.count
        ), counted as (
          select id, due_at, is_sent, case when is_sent then bytes::bigint else 0 end as bytes,
            count(*) filter (where is_sent) over (order by due_at, id) as nth_sent from due
        ), sized as (
          select *, (busy.bytes + sum(bytes) over (order by due_at, id))::bigint as total,
            busy.count + row_number() over (order by due_at, id) as nth
            from counted where not is_sent or nth_sent <= hook.connections - busy.count
        ) select array_agg(id) as ids, array_agg(bytes) as sizes,
            array_agg(total::float8 / (1 + extract(epoch from clock_timestamp() - due_at))::float8) as costs into part
          from sized where nth = 1 or total - bytes < 4194304;
        ids := ids || part.ids;
        sizes := sizes || part.sizes;
        costs := costs || part.costs;
      end loop;
      return query with sized as (
          select id, sum(bytes) over (order by cost, id rows unbounded preceding) - bytes as before
            from unnest(ids, sizes, costs) as due (id, bytes, cost)
        ) update webhook_queue q set taken_until = clock_timestamp() + lease, due_at = clock_timestamp() + lease
          from sized where q.id = sized.id and sized.before < 8388608 returning q.*;
    end $$`)
})
