import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Webhook } from "standardwebhooks"
import { Sql } from "../../../src/sql/Sql.ts"
import type { Received } from "../../support/Receiver.ts"
import { status } from "../../support/Receiver.ts"
import { create, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import {
  addBacklog,
  createWebhook,
  deletesInParts,
  deliveriesOf,
  filled,
  path,
  readWebhook,
  receiver,
  rowsOf
} from "../../support/requests/WebhookRequests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

interface Listed {
  readonly attempt: number
  readonly at: string
  readonly eventId: string
  readonly nextAttemptAt?: string
  readonly state: string
  readonly status?: number
  readonly error?: string
}

const execute = (statement: string) => Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe(statement))
const rename = (uuid: string, name: string) => send("PATCH", `/v1/locations/${uuid}`, { body: { name } })
const patch = (uuid: string, body: object) => send("PATCH", `${path}/${uuid}`, { body })
const names = (received: ReadonlyArray<Received>) =>
  received.map(({ json }) => json.data.changes.find(({ path }: { path: string }) => path === "name")?.after)
const listed = (uuid: string, count: number, query = "") =>
  eventually(
    `${count} attempts`,
    deliveriesOf(uuid, query) as Effect.Effect<ReadonlyArray<Listed>>,
    (list) => list.length >= count
  )
const arrived = (received: ReadonlyArray<Received>, count: number) =>
  eventually(
    `${count} requests`,
    Effect.sync(() => received.length),
    (length) => length >= count
  )
const stateIs = (uuid: string, state: string) =>
  eventually(`the webhook is ${state}`, readWebhook(uuid), (webhook) => webhook.state === state)
/** Makes waiting retries due. */
const hurry = execute("update webhook_queue set due_at = now() where taken_until is null")
/** No retry is due by itself while the test runs. */
const atNoTime = Effect.gen(function* () {
  yield* execute(`create function at_no_time() returns trigger language plpgsql as
    $$ begin new.due_at := 'infinity'; return new; end $$`)
  yield* execute(`create trigger at_no_time before update on webhook_queue for each row
    when (new.attempts > old.attempts) execute function at_no_time()`)
  yield* Effect.addFinalizer(() => Effect.orDie(execute("drop function at_no_time() cascade")))
})
const removeAll = execute("delete from webhooks")

layer(TestServer.layer(), { excludeTestServices: true })("Deliveries", (it) => {
  it.effect("both secrets sign while a rotation overlaps, and the old one does not after it", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      const { secret, uuid } = yield* createWebhook({ url, types: ["location.created"] })
      const rotate = (overlapSeconds: number) =>
        Effect.map(send("POST", `${path}/${uuid}/rotate-secret`, { body: { overlapSeconds } }), ({ body, status }) => {
          assert.strictEqual(status, 200)
          return body.data.secret as string
        })
      const second = yield* rotate(3600)
      yield* create()
      yield* arrived(received, 1)
      const third = yield* rotate(0)
      yield* create()
      yield* arrived(received, 2)
      const verifies = ({ body, headers }: Received, key: string) => {
        try {
          new Webhook(key).verify(body, headers as Record<string, string>)
          return true
        } catch {
          return false
        }
      }
      const signers = received.map((one) => [secret, second, third].map((key) => verifies(one, key)))
      assert.deepStrictEqual(signers, [
        [true, true, false],
        [false, false, true]
      ])
      yield* removeAll
    })
  )

  it.effect(
    "a failed attempt is repeated with growing delays, then given up, and events of the record wait for it",
    () =>
      Effect.gen(function* () {
        const target = yield* receiver
        const held: Array<() => void> = []
        target.answer = (request, response) => void held.push(() => status(500)(request, response))
        const { uuid } = yield* createWebhook({ url: target.url, types: ["location.updated"] })
        const [one, other] = [yield* create(), yield* create()]
        yield* atNoTime
        let since = Date.now()
        yield* rename(one, "First")
        yield* arrived(target.received, 1)
        yield* rename(one, "Second")
        yield* rename(other, "Other")
        yield* arrived(target.received, 2)
        // The first attempts fail together, so that the next ones are due together.
        target.answer = status(500)
        for (const release of held) release()
        const delays = [5, 30, 120, 600, 3600, 10_800, 28_800, 86_400]
        for (const [index, delay] of delays.entries()) {
          const own = yield* eventually(
            `attempt ${index + 1} of both`,
            Effect.map(deliveriesOf(uuid, "?state=failed&limit=500"), (list: ReadonlyArray<Listed>) =>
              list.filter(({ attempt }) => attempt === index + 1)
            ),
            (list) => list.length === 2
          )
          // The delay begins when the attempt is recorded, and `at` is when it began.
          const lasted = (Date.now() - since) / 1000
          for (const { at, error, nextAttemptAt, status } of own) {
            const seconds = (Date.parse(nextAttemptAt!) - Date.parse(at)) / 1000
            assert.isAtLeast(seconds, delay * 0.8)
            assert.isAtMost(seconds, delay * 1.2 + lasted)
            assert.deepStrictEqual([error, status], ["Status 500", 500])
          }
          assert.deepStrictEqual(new Set(names(target.received)), new Set(["First", "Other"]))
          if (index === delays.length - 1)
            target.answer = (request, response) => {
              target.answer = status(204)
              status(500)(request, response)
            }
          since = Date.now()
          yield* hurry
        }
        yield* listed(uuid, 1, "?state=givenUp")
        const [givenUp] = yield* listed(uuid, 1, "?state=givenUp")
        assert.deepStrictEqual([givenUp!.attempt, givenUp!.nextAttemptAt], [9, undefined])
        yield* listed(uuid, 2, "?state=delivered")
        assert.sameMembers([...new Set(names(target.received))], ["First", "Other", "Second"])
        const webhook = yield* readWebhook(uuid)
        assert.deepStrictEqual([webhook.state, webhook.failuresInARow], ["active", 0])
        yield* removeAll
      })
  )

  it.effect("events of a record arrive in order while others overtake them", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      const { uuid } = yield* createWebhook({ url: target.url, types: ["location.updated"] })
      const records = yield* Effect.forEach(Array.from({ length: 8 }), () => create())
      target.answer = (_, response) => void setTimeout(() => response.writeHead(204).end(), Math.random() * 20)
      for (let round = 0; round < 12; round++) {
        yield* Effect.forEach(records, (record) => rename(record, `Name ${round}`), { concurrency: 8 })
      }
      yield* arrived(target.received, 96)
      for (const record of records) {
        const own = target.received.filter(({ json }) => json.data.record.uuid === record)
        assert.deepStrictEqual(
          names(own),
          Array.from({ length: 12 }, (_, round) => `Name ${round}`)
        )
      }
      assert.isAbove(target.most(), 1)
      yield* eventually("nothing is pending", deliveriesOf(uuid, "?state=pending"), (list) => list.length === 0)
      yield* removeAll
    })
  )

  it.effect("a webhook has 32 connections, and one after 32 failures", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      const held: Array<() => void> = []
      target.answer = (_, response) => void held.push(() => response.writeHead(503).end())
      const { uuid } = yield* createWebhook({ url: target.url, types: ["location.created"] })
      yield* Effect.forEach(Array.from({ length: 80 }), () => create(), { concurrency: 8 })
      yield* arrived(target.received, 32)
      yield* Effect.sleep("400 millis")
      assert.deepStrictEqual([target.most(), target.received.length], [32, 32])
      for (const release of held.splice(0)) release()
      yield* eventually("32 failures", readWebhook(uuid), ({ failuresInARow }) => failuresInARow >= 32)
      // On a busy machine some attempts began before the last of those failures was recorded.
      const attempts = execute(`
        select count(*) filter (where taken_until is not null)::int as taken,
          count(*) filter (where is_head and taken_until is null and due_at <= now())::int as due from webhook_queue`)
      yield* eventually("one attempt is made, and others are due", attempts, ([row]) => {
        const { due, taken } = row as { readonly due: number; readonly taken: number }
        if (held.length > 1) for (const release of held.splice(0)) release()
        return held.length === 1 && taken === 1 && due > 0
      })
      yield* Effect.sleep("400 millis")
      assert.strictEqual(held.length, 1)
      target.answer = status(204)
      for (const release of held.splice(0)) release()
      yield* arrived(target.received, 80)
      yield* removeAll
    })
  )

  it.effect("status 410 pauses the webhook at once, and nothing is lost", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      target.answer = status(410)
      const { uuid } = yield* createWebhook({ url: target.url, types: ["location.created"] })
      const first = yield* create()
      const paused = yield* stateIs(uuid, "paused")
      const second = yield* create()
      const events = yield* eventually(
        "the events of the log",
        send("GET", `/v1/events?after=${paused.resumeCursor}&types=location.created`),
        ({ body }) => body.data.length === 2
      )
      assert.deepStrictEqual(
        events.body.data.map(({ record }: { record: { uuid: string } }) => record.uuid),
        [first, second]
      )
      const answer = yield* send("POST", `${path}/${uuid}/replay`, { body: { after: paused.resumeCursor } })
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "uuid notActive"])
      target.answer = status(200)
      target.received.length = 0
      yield* patch(uuid, { active: true })
      const { body, status: code } = yield* send("POST", `${path}/${uuid}/replay`, {
        body: { after: paused.resumeCursor }
      })
      assert.deepStrictEqual([code, body.data], [202, { events: 2 }])
      yield* arrived(target.received, 2)
      assert.sameMembers(
        target.received.map(({ json }) => json.data.record.uuid),
        [first, second]
      )
      const now = yield* eventually(
        "it is up to date",
        readWebhook(uuid),
        ({ resumeCursor }) => resumeCursor !== paused.resumeCursor
      )
      assert.strictEqual(now.state, "active")
      yield* removeAll
    })
  )

  it.effect("status 410 of the URL before does not pause a webhook that was moved during the request", () =>
    Effect.gen(function* () {
      const [gone, moved] = [yield* receiver, yield* receiver]
      const held: Array<() => void> = []
      gone.answer = (_, response) => void held.push(() => response.writeHead(410).end())
      const { uuid } = yield* createWebhook({ url: gone.url, types: ["location.created"] })
      yield* create()
      yield* arrived(gone.received, 1)
      assert.strictEqual((yield* patch(uuid, { url: moved.url })).status, 200)
      for (const release of held) release()
      const [failed] = yield* listed(uuid, 1, "?state=failed")
      assert.deepStrictEqual([failed!.status, typeof failed!.nextAttemptAt], [410, "string"])
      yield* hurry
      yield* arrived(moved.received, 1)
      assert.strictEqual((yield* readWebhook(uuid)).state, "active")
      yield* removeAll
    })
  )

  it.effect("the first webhook after many events receives its first event at once", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      const created = yield* create()
      yield* pooled`select waypost_seal_all()`
      // As if there had been no webhook for as many events as 50 calls read.
      const [feed] = yield* pooled.withTransaction(
        Effect.andThen(
          Effect.all([
            pooled`update webhook_feed set position = position - 100000`,
            pooled`select waypost_queue_deliveries(2000)`
          ]),
          pooled<{ readonly isReached: boolean }>`
            select f.position > s.from_position as "isReached" from webhook_feed f, webhook_states s
              where s.webhook_uuid = ${uuid}`
        )
      )
      assert.isTrue(feed!.isReached)
      yield* arrived(received, 1)
      assert.strictEqual(received[0]!.json.data.record.uuid, created)
      yield* removeAll
    })
  )

  it.effect("an event that was pruned before it was sent is no failure of the receiver", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      const { fetch } = yield* TestServer.TestServer
      const givenUp = Effect.map(
        Effect.promise(async () => (await fetch("/metrics")).text()),
        (text) => Number(/^waypost_webhook_deliveries_total\{.*"givenUp"\} (\S+)$/m.exec(text)?.[1])
      )
      const before = yield* givenUp
      // No event has this position.
      yield* pooled`
        insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_head)
          values (${uuid}, 0, ${unknownUuid}, 1, true)`
      yield* eventually("the row is removed", rowsOf(uuid), ({ queue }) => queue === 0)
      const { failuresInARow, lastFailureAt } = yield* readWebhook(uuid)
      const [state] = yield* pooled`select failing_since from webhook_states where webhook_uuid = ${uuid}`
      assert.deepStrictEqual([failuresInARow, lastFailureAt, state], [0, undefined, { failing_since: null }])
      assert.isNotNaN(before)
      assert.strictEqual(yield* givenUp, before)
      yield* removeAll
    })
  )

  it.effect("rows without an event do not delay the events of a webhook whose last attempts failed", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      // In one transaction, before the job sees the rows. A webhook that the job has locked is skipped.
      const taken = yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* pooled`select from webhooks where uuid = ${uuid} for no key update`
          yield* pooled`update webhook_states set failures_in_a_row = 32 where webhook_uuid = ${uuid}`
          // No event has this position.
          yield* pooled`
            insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_head, due_at)
              select ${uuid}, 0, gen_random_uuid(), 1, true, now() from generate_series(1, 64)`
          const [row] = yield* pooled<{ readonly rows: number }>`
            select count(*)::int as rows from waypost_take_deliveries('1 minute') t where t.webhook_uuid = ${uuid}`
          return row!
        })
      )
      assert.isAbove(taken.rows, 1)
      yield* pooled`update webhook_queue set taken_until = null, due_at = now() where webhook_uuid = ${uuid}`
      const created = yield* create()
      yield* arrived(received, 1)
      assert.strictEqual(received[0]!.json.data.record.uuid, created)
      yield* removeAll
    })
  )

  it.effect(
    "all webhooks together take 8 MiB and one event more at once: first those with little, and what waited for long",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const mebibyte = 1024 ** 2
        const created = yield* create()
        yield* pooled`select waypost_seal_all()`
        const hooks = (count: number, events: number, bytes: number, seconds = 0) => pooled`
        with hooks as (
          insert into webhooks (uuid, url, types)
            select gen_random_uuid(), 'http://127.0.0.1:1', '{location.created}' from generate_series(1, ${count}::int)
            returning uuid
        ) insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_head, due_at)
          select h.uuid, e.position, gen_random_uuid(), ${bytes}::int, true, now() - make_interval(secs => ${seconds}::int)
            from hooks h, events e, generate_series(1, ${events}::int) where e.record_uuid = ${created}`
        const taken = Effect.map(
          pooled<{ readonly bytes: number }>`select bytes from waypost_take_deliveries('1 minute') order by bytes`,
          (rows) => rows.map(({ bytes }) => bytes)
        )
        const large = (count: number) => Array.from({ length: count }, () => 3 * mebibyte)
        // Nothing else sees these webhooks.
        const ended = yield* Effect.flip(
          pooled.withTransaction(
            Effect.gen(function* () {
              yield* hooks(10, 1, 3 * mebibyte)
              yield* hooks(1, 5, 100)
              assert.deepStrictEqual(yield* taken, [100, 100, 100, 100, 100, ...large(3)])
              yield* hooks(1, 1, 16 * mebibyte, 60)
              assert.deepStrictEqual(yield* taken, [16 * mebibyte])
              for (const count of [3, 3, 1, 0]) assert.deepStrictEqual(yield* taken, large(count))
              return yield* Effect.fail("The webhooks are rolled back")
            })
          )
        )
        assert.strictEqual(ended, "The webhooks are rolled back")
      })
  )

  it.effect("after its first missed events were pruned, a webhook is sent the rest behind `resumeCursor`", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      yield* patch(uuid, { active: false })
      yield* create()
      const second = yield* create()
      yield* execute("select waypost_seal_all()")
      yield* patch(uuid, { active: true })
      const { resumeCursor: begin } = yield* readWebhook(uuid)
      const replay = (after: string) => send("POST", `${path}/${uuid}/replay`, { body: { after } })
      const prune = pooled<{ readonly events: number }>`
        select waypost_prune('infinity', (e.position - l.pruned_position - 1)::int) as events
          from event_log l, events e where e.record_uuid = ${second}`
      // While another process seals, nothing is pruned.
      yield* eventually("the first event is pruned", prune, ([row]) => row!.events > 0)
      assert.strictEqual((yield* replay(begin)).status, 410)
      const { resumeCursor } = yield* readWebhook(uuid)
      const replayed = yield* replay(resumeCursor)
      assert.deepStrictEqual([replayed.status, replayed.body.data], [202, { events: 1 }])
      yield* arrived(received, 1)
      assert.strictEqual(received[0]!.json.data.record.uuid, second)
      yield* eventually("it is up to date", readWebhook(uuid), (webhook) => webhook.resumeCursor !== resumeCursor)
      yield* removeAll
    })
  )

  it.effect("a replay since a time that leaves out missed events keeps `resumeCursor` before them", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      yield* patch(uuid, { active: false })
      const [late, second] = [yield* create(), yield* create()]
      yield* execute("select waypost_seal_all()")
      yield* patch(uuid, { active: true })
      // As if its transaction had stayed open for ten minutes.
      yield* pooled`update events set occurred_at = occurred_at - interval '10 minutes' where record_uuid = ${late}`
      const { resumeCursor } = yield* readWebhook(uuid)
      /** Replays, waits until all is sent, and returns the records of which a creation was sent. */
      const replay = Effect.fnUntraced(function* (body: object) {
        received.length = 0
        assert.strictEqual((yield* send("POST", `${path}/${uuid}/replay`, { body })).status, 202)
        const waiting = pooled`
          select from webhook_queue where webhook_uuid = ${uuid}
            union all select from webhook_replays where webhook_uuid = ${uuid}`
        yield* eventually("all is sent", waiting, (rows) => rows.length === 0)
        return received.map(({ json }) => json.data.record.uuid)
      })
      const ago = (minutes: number) => ({ since: new Date(Date.now() - minutes * 60_000).toISOString() })
      const sent = yield* replay(ago(5))
      assert.deepStrictEqual([sent.includes(late), sent.includes(second)], [false, true])
      assert.strictEqual((yield* readWebhook(uuid)).resumeCursor, resumeCursor)
      assert.sameMembers(yield* replay({ after: resumeCursor }), [late, second])
      assert.notStrictEqual((yield* readWebhook(uuid)).resumeCursor, resumeCursor)
      yield* removeAll
    })
  )

  it.effect("a webhook receives the events that are sealed while it is being activated", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      yield* patch(uuid, { active: false })
      yield* execute("select waypost_seal_all()")
      const [isActive, isFilled] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const activation = yield* Effect.forkChild(
        pooled.withTransaction(
          Effect.gen(function* () {
            yield* pooled`update webhooks set state = 'active' where uuid = ${uuid}`
            yield* Deferred.succeed(isActive, undefined)
            yield* Deferred.await(isFilled)
          })
        )
      )
      yield* Deferred.await(isActive)
      const created = yield* create()
      yield* execute("select waypost_seal_all()")
      yield* eventually(
        "the queue is filled, or waits for the activation",
        pooled<{ readonly isReached: boolean }>`
          select f.position = l.position or exists (select from pg_stat_activity where datname = current_database()
            and wait_event_type = 'Lock' and query like '%waypost_queue_deliveries%') as "isReached"
          from webhook_feed f, event_log l`,
        ([row]) => row!.isReached
      )
      yield* Deferred.succeed(isFilled, undefined)
      yield* Fiber.join(activation)
      yield* arrived(received, 1)
      assert.deepStrictEqual(
        received.map(({ json }) => json.data.record.uuid),
        [created]
      )
      yield* removeAll
    })
  )

  it.effect("failing for five days stops delivery until the webhook is active again", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      target.answer = status(500)
      const { uuid } = yield* createWebhook({ url: target.url, types: ["location.created"] })
      yield* create()
      yield* listed(uuid, 1, "?state=failed")
      const { resumeCursor } = yield* readWebhook(uuid)
      yield* execute("update webhook_states set failing_since = now() - interval '5 days'")
      yield* hurry
      const failing = yield* stateIs(uuid, "failing")
      assert.strictEqual(failing.resumeCursor, resumeCursor)
      const { body } = yield* eventually(
        "the event",
        send("GET", `/v1/events?record=${uuid}`),
        ({ body }) => body.data.length === 2
      )
      assert.deepStrictEqual(body.data[1].changes, [{ path: "state", before: "active", after: "failing" }])
      assert.deepStrictEqual(body.data[1].actor, { type: "system" })
      target.answer = status(200)
      yield* patch(uuid, { active: true })
      const { failuresInARow, state } = yield* readWebhook(uuid)
      assert.deepStrictEqual([state, failuresInARow], ["active", 0])
      yield* removeAll
    })
  )

  it.effect("a replay sends events by their ids, by time and after a cursor, and only those of the types", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      const { uuid } = yield* createWebhook({ url: target.url, types: ["location.updated"] })
      const record = yield* create({ name: unique("Replayed") })
      yield* rename(record, "One")
      yield* rename(record, "Two")
      yield* arrived(target.received, 2)
      const { body } = yield* send("GET", `/v1/events?record=${record}`)
      const [created, one, two] = body.data
      const replay = (sent: object) => send("POST", `${path}/${uuid}/replay`, { body: sent })
      for (const [sent, expected] of [
        [{ eventIds: [created.id, two.id, two.id] }, [two.id]],
        [{ since: one.occurredAt }, [one.id, two.id]],
        [{ after: one.cursor }, [two.id]]
      ] as const) {
        target.received.length = 0
        const { body, status } = yield* replay(sent)
        assert.deepStrictEqual([status, body.data], [202, { events: expected.length }], JSON.stringify(body))
        yield* arrived(target.received, expected.length)
        assert.sameMembers(
          target.received.map(({ json }) => json.data.id),
          [...expected]
        )
      }
      for (const [sent, problem] of [
        [{}, " invalid"],
        [{ after: one.cursor, since: one.occurredAt }, " invalid"],
        [{ after: "nonsense" }, "after invalidFormat"],
        [{ eventIds: [one.id, uuid] }, "eventIds.1 notFound"]
      ] as const) {
        assert.deepStrictEqual(problemsOf(yield* replay(sent)), [400, "InvalidRequestError", problem])
      }
      yield* removeAll
    })
  )

  it.effect("pages of deliveries have every attempt once, newest first", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      const { uuid } = yield* createWebhook({ url: target.url, types: ["location.created"] })
      yield* Effect.forEach(Array.from({ length: 7 }), () => create())
      yield* listed(uuid, 7, "?state=delivered")
      const whole = yield* listed(uuid, 7)
      const seen: Array<Listed> = []
      let after = ""
      for (let more = true; more;) {
        const { body } = yield* send("GET", `${path}/${uuid}/deliveries?limit=3&after=${after}`)
        seen.push(...body.data)
        assert.strictEqual(body.more, seen.length < 7)
        ;({ cursor: after, more } = body)
      }
      assert.deepStrictEqual(seen, [...whole])
      assert.deepStrictEqual(
        whole.map(({ at }) => at),
        whole
          .map(({ at }) => at)
          .toSorted()
          .toReversed()
      )
      const { body } = yield* send("GET", "/v1/events?limit=1")
      const wrong = yield* send("GET", `${path}/${uuid}/deliveries?after=${body.cursor}`)
      assert.deepStrictEqual(problemsOf(wrong), [400, "InvalidRequestError", "after invalidFormat"])
      yield* removeAll
    })
  )

  it.effect("a malformed cursor is rejected before the webhook is looked for", () =>
    Effect.gen(function* () {
      const answers = [
        yield* send("GET", `${path}/${unknownUuid}/deliveries?after=garbage`),
        yield* send("POST", `${path}/${unknownUuid}/replay`, { body: { after: "garbage" } })
      ]
      for (const answer of answers) {
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "after invalidFormat"])
      }
    })
  )

  it.effect("a cursor of deliveries is no place in the log, for the feed and a replay", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      yield* create()
      yield* listed(uuid, 1)
      const { body } = yield* send("GET", `${path}/${uuid}/deliveries`)
      const answers = [
        yield* send("GET", `/v1/events?after=${body.cursor}`),
        yield* send("POST", `${path}/${uuid}/replay`, { body: { after: body.cursor } })
      ]
      for (const answer of answers) {
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "after invalidFormat"])
        assert.match(answer.body.issues[0].message, /another operation/)
      }
      yield* removeAll
    })
  )
})

/** More than one statement deletes. */
const backlog = 6000
const part = 2000

layer(TestServer.layer(), { excludeTestServices: true })("Deliveries with many waiting events", (it) => {
  it.effect("a webhook with many waiting events is paused, activated and deleted at once", () =>
    Effect.gen(function* () {
      yield* deletesInParts(part)
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      yield* filled
      yield* addBacklog(uuid, backlog)
      const { resumeCursor } = yield* readWebhook(uuid)
      assert.strictEqual((yield* patch(uuid, { active: false })).status, 200)
      const paused = yield* readWebhook(uuid)
      assert.deepStrictEqual([paused.state, paused.resumeCursor], ["paused", resumeCursor])
      assert.lengthOf(yield* deliveriesOf(uuid, "?state=pending"), 0)
      assert.strictEqual((yield* patch(uuid, { active: true })).status, 200)
      const created = yield* create()
      yield* arrived(received, 1)
      assert.strictEqual(received[0]!.json.data.record.uuid, created)
      yield* listed(uuid, 1, "?state=delivered")
      yield* eventually("the dropped events are removed", rowsOf(uuid), ({ dropped, queue }) => dropped + queue === 0)

      yield* addBacklog(uuid, backlog)
      assert.strictEqual((yield* send("DELETE", `${path}/${uuid}`)).status, 200)
      yield* eventually("all rows of the webhook are removed", rowsOf(uuid), (rows) =>
        Object.values(rows).every((count) => count === 0)
      )
    })
  )

  it.effect("an activated webhook sends what a replay adds, and none of the events that were dropped", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      target.answer = status(500)
      const { uuid } = yield* createWebhook({ url: target.url, types: ["location.*"] })
      const record = yield* create()
      yield* listed(uuid, 1, "?state=failed")
      yield* rename(record, "Waiting")
      const { body } = yield* eventually(
        "both events",
        send("GET", `/v1/events?record=${record}`),
        ({ body }) => body.data.length === 2
      )
      yield* addBacklog(uuid, backlog)
      yield* execute("update webhook_queue set due_at = 'infinity'")
      target.answer = status(204)
      target.received.length = 0
      yield* patch(uuid, { active: false })
      yield* patch(uuid, { active: true })
      const replayed = yield* send("POST", `${path}/${uuid}/replay`, { body: { eventIds: [body.data[0].id] } })
      assert.deepStrictEqual([replayed.status, replayed.body.data], [202, { events: 1 }])
      yield* rename(record, "Later")
      yield* arrived(target.received, 2)
      yield* eventually("the dropped events are removed", rowsOf(uuid), ({ dropped, queue }) => dropped + queue === 0)
      assert.sameMembers(
        target.received.map(({ json }) => json.type),
        ["location.created", "location.updated"]
      )
      assert.include(names(target.received), "Later")
      yield* removeAll
    })
  )

  it.effect("status 410 of a receiver with many waiting events stops no other webhook", () =>
    Effect.gen(function* () {
      yield* deletesInParts(part)
      const [gone, other] = [yield* receiver, yield* receiver]
      gone.answer = status(410)
      const { uuid } = yield* createWebhook({ url: gone.url, types: ["location.created"] })
      yield* createWebhook({ url: other.url, types: ["location.created"] })
      yield* addBacklog(uuid, backlog)
      yield* create()
      yield* stateIs(uuid, "paused")
      yield* create()
      yield* arrived(other.received, 2)
      yield* removeAll
    })
  )

  it.effect("events are delivered while no attempt can be recorded", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      yield* execute(`create function fail() returns trigger language plpgsql as $$
        begin raise exception 'canceled' using errcode = '57014'; end $$`)
      yield* execute("create trigger fail before insert on webhook_deliveries for each row execute function fail()")
      yield* create()
      yield* arrived(received, 1)
      yield* create()
      yield* arrived(received, 2)
      yield* execute("drop function fail() cascade")
      yield* listed(uuid, 2, "?state=delivered")
      yield* removeAll
    })
  )
})
