import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { WebhookId } from "../../../src/domain/changes/Webhook.ts"
import { Deliveries } from "../../../src/repositories/webhooks/Deliveries.ts"
import { DeliveryQueue } from "../../../src/repositories/webhooks/DeliveryQueue.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { explained, filled, nodes, rowsOf } from "../../sql/Explained.ts"
import { unknownUuid } from "../../support/requests/Requests.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const attempts = 50_000
const limit = 10
const webhook = WebhookId.make(unknownUuid)

/** An attempt each second; of those before the last thousand, every thousandth failed, and every ten thousandth was given up. */
const fill = [
  `insert into webhook_deliveries (webhook_uuid, event_id, event_type, attempt, state, at)
    select '${webhook}', gen_random_uuid(), 'location.created', 1,
      case when i % 10000 = 0 then 'givenUp' when i % 1000 = 0 then 'failed' else 'delivered' end,
      timestamptz '2026-01-01' + i * interval '1 second' from generate_series(1, ${attempts} - 1000) i`,
  `insert into webhook_deliveries (webhook_uuid, event_id, event_type, attempt, state, at)
    select '${webhook}', gen_random_uuid(), 'location.created', 1, 'delivered',
      timestamptz '2026-01-02' + i * interval '1 second' from generate_series(1, 1000) i`,
  "vacuum analyze webhook_deliveries"
]

const services = Deliveries.layer.pipe(Layer.provideMerge(filled(fill)), Layer.provide(settings()))

layer(services, { excludeTestServices: true })("deliveries of a busy webhook", (it) => {
  it.effect.each([
    { state: "failed", found: 45 },
    { state: "givenUp", found: 4 }
  ] as const)("the attempts that are $state are read by an index, page by page", ({ found, state }) =>
    Effect.gen(function* () {
      const deliveries = yield* Deliveries
      let after: Parameters<Deliveries["Service"]["list"]>[1]["after"]
      let read = 0
      for (let more = true; more;) {
        const page = { limit, state, after }
        const plan = nodes(yield* explained(deliveries.list(webhook, page), { run: true }))
        const scans = plan.filter((node) => node["Relation Name"] === "webhook_deliveries")
        assert.deepStrictEqual(
          scans.map((node) => node["Index Name"]),
          ["webhook_deliveries_state"]
        )
        assert.isAtMost(rowsOf(scans[0]!), limit + 1)
        const answer = yield* deliveries.list(webhook, page)
        read += (JSON.parse(answer.data) as ReadonlyArray<unknown>).length
        ;({ last: after, more } = answer)
      }
      assert.strictEqual(read, found)
    })
  )
})

/** A webhook whose receiver is down: of each record an event that waits for a later attempt, and three that are due. */
const waiting = [
  `insert into webhooks (uuid, url, types) values ('${webhook}', 'https://shop.example', '{*}')`,
  `insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_head, due_at)
    select '${webhook}', i, gen_random_uuid(), 1, true, now() + case when i <= 3 then interval '-1 hour' else interval '1 hour' end
    from generate_series(1, ${attempts}) i`,
  "vacuum analyze webhook_queue"
]

layer(filled(waiting).pipe(Layer.provideMerge(settings())), { excludeTestServices: true })(
  "the queue of a webhook whose receiver is down",
  (it) => {
    it.effect("events that are due are taken without reading those that wait for a later attempt", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        // A transaction counts the rows and the entries of indexes that its statements read.
        const [taken, read] = yield* pooled.withTransaction(
          Effect.gen(function* () {
            const rows = yield* pooled`select from waypost_take_deliveries('30 seconds')`
            const [counted] = yield* pooled<{ readonly entries: number }>`
            select (select sum(pg_stat_get_xact_tuples_returned(indexrelid)) + pg_stat_get_xact_tuples_returned('webhook_queue'::regclass)
              from pg_index where indrelid = 'webhook_queue'::regclass)::int as entries`
            return [rows.length, counted!.entries] as const
          })
        )
        assert.strictEqual(taken, 3)
        assert.isAtMost(read, 50)
      })
    )
  }
)

const unprepared = Postgres.sql.pipe(Layer.provideMerge(settings({ DATABASE_PREPARE: "false" })))
layer(unprepared, { excludeTestServices: true })("the queue of webhooks", (it) => {
  it.effect("events of which a thousand exceed the statement timeout are added to the queue in smaller parts", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* pooled`insert into webhooks (uuid, url, types) values (${webhook}, 'https://shop.example', '{*}')`
      yield* pooled`insert into asset_categories (uuid, key, translations, position)
        select gen_random_uuid(), 'category-' || i, '[]', 0 from generate_series(1, 1000) i`
      yield* pooled`select waypost_seal_all()`
      yield* pooled.unsafe(
        "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.002); return new; end $$"
      )
      yield* pooled.unsafe("create trigger slow before insert on webhook_queue for each row execute function slow()")
      const count = pooled<{ readonly events: number }>`select count(*)::int as events from webhook_queue`
      yield* Effect.gen(function* () {
        const { fill } = yield* DeliveryQueue
        yield* Effect.repeat(Effect.andThen(Effect.exit(fill), count), { until: ([row]) => row!.events >= 1000 })
      }).pipe(Effect.provide(Layer.provide(DeliveryQueue.layer, Postgres.hurried(1000))))
    })
  )
})

layer(unprepared, { excludeTestServices: true })("deliveries that several processes make", (it) => {
  it.effect("an event that another process seals and queues while deliveries are taken is taken with its values", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { take } = yield* DeliveryQueue
      yield* pooled`insert into webhooks (uuid, url, types) values (${webhook}, 'https://shop.example', '{group.created}')`
      yield* pooled`insert into groups (uuid, name) values (gen_random_uuid(), 'late')`
      const taking = yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* pooled`lock table webhook_states in access exclusive mode`
          const fiber = yield* Effect.forkChild(take)
          yield* eventually(
            "the statement that takes has begun",
            pooled`select from pg_locks where relation = 'webhook_states'::regclass and not granted
              and database = (select oid from pg_database where datname = current_database())`,
            ({ length }) => length > 0
          )
          yield* pooled`select waypost_seal_all(), waypost_queue_deliveries(10)`
          return fiber
        })
      )
      const taken = yield* Fiber.join(taking)
      assert.deepStrictEqual(
        taken.map(({ event }) => event?.label),
        ["late"]
      )
    }).pipe(Effect.provide(DeliveryQueue.layer))
  )
})

layer(unprepared, { excludeTestServices: true })("attempts that are recorded again", (it) => {
  it.effect("a failed attempt that is recorded again because the answer was lost counts once", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const queue = yield* DeliveryQueue
      yield* pooled`insert into webhooks (uuid, url, types) values (${webhook}, 'https://shop.example', '{group.created}')`
      const [row] = yield* pooled<{ readonly id: number }>`
        insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_head, due_at)
          values (${webhook}, 1, gen_random_uuid(), 1, true, now()) returning id::float8 as id`
      const url = "https://shop.example"
      const event = { eventId: unknownUuid, eventType: "group.created" }
      const attempt = { id: row!.id, webhook, url, ...event, state: "failed", millis: 1, retry: 5, age: 1 } as const
      for (const number of [1, 1, 2, 2]) yield* queue.finish([{ ...attempt, attempt: number }])
      const recorded = yield* pooled`select attempt from webhook_deliveries order by id`
      assert.deepStrictEqual(recorded, [{ attempt: 1 }, { attempt: 2 }])
      const failures = pooled`select failures_in_a_row::int as failures from webhook_states`
      assert.deepStrictEqual(yield* failures, [{ failures: 2 }])
      // A process that could not record its success before another one tried again.
      yield* queue.finish([{ ...attempt, attempt: 2, state: "delivered" }])
      assert.deepStrictEqual(yield* failures, [{ failures: 0 }])
      assert.deepStrictEqual(yield* pooled`select from webhook_queue`, [])
    }).pipe(Effect.provide(DeliveryQueue.layer))
  )
})
