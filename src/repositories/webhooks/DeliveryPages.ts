import type { deliveryStates } from "../../domain/changes/Delivery.ts"
import type { WebhookId } from "../../domain/changes/Webhook.ts"
import { timestampJson } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

/** Where a list of deliveries goes on: behind this attempt, or this pending delivery. */
export interface Place {
  /** ISO 8601. */
  readonly at: string
  readonly isPending: boolean
  readonly id: number
}

export interface DeliveryRequest {
  readonly limit: number
  readonly state?: (typeof deliveryStates)[number] | undefined
  readonly after?: Place | undefined
}

/**
 * Attempts and pending deliveries in one order; one more than the page has. While what a pause dropped is not removed yet, nothing is
 * delivered, and no pending delivery is in the list: the search for one could read all that was dropped.
 */
export const pageSql = (webhook: WebhookId, { after, limit, state }: DeliveryRequest): Fragment => {
  const isBehind = (at: Fragment, isPending: Fragment, id: Fragment) =>
    after === undefined
      ? sql`true`
      : sql`(${at}, ${isPending}, ${id}) < (${after.at}::timestamptz, ${after.isPending}::boolean, ${after.id}::bigint)`
  // The index of failures is for a state in the text of the statement only.
  const attempts = sql`
    select d.at, false as pending, d.id, json_strip_nulls(json_build_object('eventId', d.event_id, 'eventType', d.event_type,
        'attempt', d.attempt, 'state', d.state, 'status', d.status, 'error', d.error, 'durationMs', d.duration_ms,
        'at', ${timestampJson(sql`d.at`)}, 'nextAttemptAt', ${timestampJson(sql`d.next_attempt_at`)}))::text as json
      from webhook_deliveries d where d.webhook_uuid = ${webhook} and ${isBehind(sql`d.at`, sql`false`, sql`d.id`)}
        and ${state === undefined ? sql`true` : sql`d.state = ${sql.literal(`'${state}'`)}`}
      order by d.at desc, d.id desc limit ${limit + 1}::int`
  const pending = sql`
    select q.queued_at, true, q.id, json_build_object('eventId', e.id, 'eventType', e.type || '.' || e.action, 'attempt', 1,
        'state', 'pending', 'at', ${timestampJson(sql`q.queued_at`)})::text
      from webhook_queue q join events e using (position) where q.webhook_uuid = ${webhook} and q.attempts = 0
        and not exists (select from webhook_dropped d where d.webhook_uuid = ${webhook})
        and ${isBehind(sql`q.queued_at`, sql`true`, sql`q.id`)}
      order by q.queued_at desc, q.id desc limit ${limit + 1}::int`
  const parts = [
    ...(state === "pending" ? [] : [sql`(${attempts})`]),
    ...(state === undefined || state === "pending" ? [sql`(${pending})`] : [])
  ]
  return sql`select ${timestampJson(sql`p.at`)} as at, p.pending as "isPending", p.id::float8 as id, p.json
    from (${sql.join(" union all ", false)(parts)}) p (at, pending, id, json)
    order by p.at desc, p.pending desc, p.id desc limit ${limit + 1}::int`
}
