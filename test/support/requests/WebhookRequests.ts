import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Receivers from "../Receiver.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { eventually } from "../Until.ts"
import { send } from "./Requests.ts"

export const path = "/v1/webhooks"

export interface Hook {
  readonly uuid: string
  readonly secret: string
}

/** Creates a webhook. */
export const createWebhook = Effect.fnUntraced(function* (body: Readonly<Record<string, unknown>>, key?: string) {
  const { body: answer, status, text } = yield* send("POST", path, { body, ...(key === undefined ? {} : { key }) })
  assert.strictEqual(status, 201, text)
  return answer.data as Hook
})

/** The webhook as GET returns it. */
export const readWebhook = (uuid: string) => Effect.map(send("GET", `${path}/${uuid}`), ({ body }) => body.data)

/** The deliveries of a webhook, newest first. */
export const deliveriesOf = (uuid: string, query = "") =>
  Effect.map(send("GET", `${path}/${uuid}/deliveries${query}`), ({ body }) => body.data)

/** A receiver that ends with the test. */
export const receiver = Effect.acquireDisposable(Effect.promise(() => Receivers.start()))

/** Waits until the queues of webhooks have every event, so that no `resumeCursor` moves before the next one. */
export const filled = Effect.flatMap(Sql, ({ pooled }) =>
  eventually(
    "the queue is filled",
    pooled`select from webhook_feed f, event_log l where f.position < l.position union all select from pending_changes`,
    (rows) => rows.length === 0
  )
)

/** Adds events that wait to the queue of a webhook, and as many attempts. None is due. */
export const addBacklog = (uuid: string, events: number) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.andThen(
      pooled`
        insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_head, due_at)
          select ${uuid}::uuid, position, gen_random_uuid(), 1, true, 'infinity' from event_log, generate_series(1, ${events}::int)`,
      pooled`
        insert into webhook_deliveries (webhook_uuid, event_id, event_type, attempt, state, at)
          select ${uuid}::uuid, gen_random_uuid(), 'location.created', 1, 'delivered', now() from generate_series(1, ${events}::int)`
    )
  )

/** How many rows of what waits at webhooks, or was tried, one statement can delete while the test runs. */
export const deletesInParts = Effect.fnUntraced(function* (rows: number) {
  const { pooled } = yield* Sql
  yield* pooled.unsafe(`
    create function limit_deletion() returns trigger language plpgsql as $$
    begin
      if (select count(*) from gone) > ${rows} then raise exception 'canceled' using errcode = '57014'; end if;
      return null;
    end $$`)
  for (const table of ["webhook_queue", "webhook_deliveries"]) {
    yield* pooled.unsafe(`
      create trigger limit_deletion after delete on ${table} referencing old table as gone
        for each statement execute function limit_deletion()`)
  }
  yield* Effect.addFinalizer(() => Effect.orDie(pooled.unsafe("drop function limit_deletion() cascade")))
})

/** How many rows of a webhook are in the tables of the queue. */
export const rowsOf = (uuid: string) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.map(
      pooled<{ readonly queue: number; readonly deliveries: number; readonly dropped: number }>`
        select (select count(*)::int from webhook_queue where webhook_uuid = ${uuid}::uuid) as queue,
          (select count(*)::int from webhook_deliveries where webhook_uuid = ${uuid}::uuid) as deliveries,
          (select count(*)::int from webhook_dropped where webhook_uuid = ${uuid}::uuid) as dropped`,
      ([row]) => row!
    )
  )
