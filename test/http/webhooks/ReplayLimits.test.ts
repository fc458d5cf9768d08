import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { create, problemsOf, send } from "../../support/requests/Requests.ts"
import { createWebhook, path, receiver } from "../../support/requests/WebhookRequests.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

/** More than one call adds to the queue. */
const events = 3000
const batch = 2000

const execute = <Row extends object>(statement: string, values: ReadonlyArray<unknown> = []) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<Row>(statement, values))
const replay = (uuid: string, body: object) => send("POST", `${path}/${uuid}/replay`, { body })
const since = { since: "2026-01-01T00:00:00.000Z" }
const removeAll = execute("delete from webhooks")

/** A webhook whose receiver never answers. */
const deadWebhook = Effect.gen(function* () {
  const dead = yield* receiver
  dead.answer = () => undefined
  return yield* createWebhook({ url: dead.url, types: ["location.created"] })
})

/** Replays of all locations, as any number of requests once left them. */
const insertReplays = (uuid: string, count: number) =>
  execute(
    `insert into webhook_replays (webhook_uuid, position, until)
      select $1::uuid, (select min(position) - 1 from events where type = 'location'), position
      from event_log, generate_series(1, $2::int)`,
    [uuid, count]
  )

/** Fills the queue once. */
const fill = execute(`select waypost_queue_deliveries(${batch})`)

interface Queued {
  readonly uuid: string
  readonly position: number
}

/** What waits in the queue, without what deleted webhooks had, which is removed in parts. */
const queued = execute<Queued>(
  `select webhook_uuid as uuid, position::float8 as position from webhook_queue
    where webhook_uuid in (select uuid from webhooks) order by position`
)

/** Runs while no process fills the queue or takes from it. */
const alone = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    pooled.withTransaction(
      Effect.gen(function* () {
        yield* pooled`select from webhook_feed for update`
        yield* pooled`select from webhooks for update`
        return yield* run
      })
    )
  )

layer(TestServer.layer(), { excludeTestServices: true })("limits of replays", (it) => {
  it.effect(`the log has the creation of ${events} locations for the tests below`, () =>
    Effect.gen(function* () {
      yield* Postgres.execute(`insert into locations (uuid, name, identifier)
        select gen_random_uuid(), 'Branch', 'replayed-' || i from generate_series(1, ${events}) i`)
      yield* Postgres.execute("select waypost_seal_all()")
    })
  )

  it.effect("400 replays of a webhook add one batch to the queue at a time", () =>
    Effect.gen(function* () {
      const { uuid } = yield* deadWebhook
      yield* alone(
        Effect.gen(function* () {
          yield* insertReplays(uuid, 400)
          yield* fill
          assert.lengthOf(yield* queued, batch)
          yield* fill
          assert.lengthOf(yield* queued, batch, "no more while these wait")
          yield* execute("delete from webhook_queue where id in (select id from webhook_queue order by id limit 300)")
          yield* fill
          assert.lengthOf(yield* queued, batch, "only what has room")
        })
      )
      yield* removeAll
    })
  )

  it.effect("a replay that is added in parts sends each event once, whatever has room", () =>
    Effect.gen(function* () {
      const { uuid } = yield* deadWebhook
      yield* alone(
        Effect.gen(function* () {
          yield* insertReplays(uuid, 1)
          const added: Array<number> = []
          for (const kept of [1999, 1999, 1500, 1999, 0, 0]) {
            yield* fill
            const positions = (yield* queued).map(({ position }) => position)
            added.push(...positions.filter((position) => !added.includes(position)))
            yield* execute(
              "delete from webhook_queue where id not in (select id from webhook_queue order by id desc limit $1::int)",
              [kept]
            )
          }
          const log = yield* execute<{ readonly position: number }>(
            "select position::float8 as position from events where type = 'location' and action = 'created' order by position"
          )
          assert.deepStrictEqual(
            added,
            log.map(({ position }) => position)
          )
          assert.deepStrictEqual(yield* execute("select from webhook_replays"), [])
        })
      )
      yield* removeAll
    })
  )

  it.effect("the replays of several webhooks share a batch", () =>
    Effect.gen(function* () {
      const hooks = [yield* deadWebhook, yield* deadWebhook, yield* deadWebhook]
      yield* alone(
        Effect.gen(function* () {
          for (const { uuid } of hooks) yield* insertReplays(uuid, 3)
          yield* fill
          const rows = yield* queued
          for (const { uuid } of hooks) {
            assert.lengthOf(
              rows.filter((row) => row.uuid === uuid),
              Math.floor(batch / hooks.length)
            )
          }
        })
      )
      yield* removeAll
    })
  )

  it.effect("a webhook gets its events while another one has 400 replays", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      const replayed = yield* deadWebhook
      yield* createWebhook({ url, types: ["location.created"] })
      yield* insertReplays(replayed.uuid, 400)
      const created = yield* create()
      yield* eventually(
        "the event arrives",
        Effect.sync(() => received.length),
        (count) => count > 0
      )
      assert.strictEqual(received[0]!.json.data.record.uuid, created)
      yield* removeAll
    })
  )

  it.effect("a webhook has at most 10 replays that have not ended", () =>
    Effect.gen(function* () {
      const { uuid } = yield* deadWebhook
      for (let number = 1; number <= 10; number++) {
        assert.strictEqual((yield* replay(uuid, since)).status, 202, `replay ${number}`)
      }
      assert.deepStrictEqual(problemsOf(yield* replay(uuid, since)), [400, "InvalidRequestError", " tooMany"])
      yield* execute("delete from webhook_replays where id = (select max(id) from webhook_replays)")
      const together = yield* Effect.all(
        Array.from({ length: 4 }, () => replay(uuid, since)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        together.filter(({ status }) => status === 202),
        1
      )
      yield* removeAll
    })
  )

  it.effect("a replay does not wait for a process that is about to fill the queue", () =>
    Effect.gen(function* () {
      const { uuid } = yield* deadWebhook
      const { pooled } = yield* Sql
      const { status } = yield* pooled.withTransaction(
        Effect.andThen(pooled`select from webhook_feed for update`, replay(uuid, since))
      )
      assert.strictEqual(status, 202)
      yield* removeAll
    })
  )

  it.effect("at most 10,000 replayed events wait with those that are sent by their ids", () =>
    Effect.gen(function* () {
      const { uuid } = yield* deadWebhook
      // None of them is due during the test.
      yield* execute(
        `insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_replay, is_head, due_at)
          select $1::uuid, position, record_uuid, bytes, true, true, 'infinity' from (
            select * from events where type = 'location' and action = 'created' limit 1
          ) event, generate_series(1, 9997)`,
        [uuid]
      )
      const ids = (yield* execute<{ readonly id: string }>(
        "select id from events where type = 'location' and action = 'created' limit 4"
      )).map(({ id }) => id)
      const tooMany = yield* replay(uuid, { eventIds: ids })
      assert.deepStrictEqual(problemsOf(tooMany), [400, "InvalidRequestError", "eventIds tooMany"])
      const three = yield* replay(uuid, { eventIds: ids.slice(1) })
      assert.deepStrictEqual([three.status, three.body.data], [202, { events: 3 }])
      yield* removeAll
    })
  )
})
