import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { verify } from "../../src/repositories/changes/Verification.ts"
import { prune } from "../../src/jobs/Pruning.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { createAsset, fileRow, patchAsset } from "../support/requests/AssetRequests.ts"
import { eventsAfter, sealed } from "../support/requests/LogRequests.ts"
import * as Products from "../support/requests/ProductRequests.ts"
import { expectError, send } from "../support/requests/Requests.ts"
import * as Postgres from "../support/Postgres.ts"
import * as TestServer from "../support/TestServer.ts"

/** Makes the events up to a position look older. */
const age = (position: number, days: number) =>
  Effect.flatMap(
    Sql,
    ({ pooled }) => pooled`
    update events set sealed_at = sealed_at - make_interval(days => ${days}::int),
      occurred_at = occurred_at - make_interval(days => ${days}::int) where position <= ${position}::bigint`
  )

const log = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.map(
    pooled<Readonly<Record<string, number>>>`
      select (select count(*)::int from events) as events, (select count(*)::int from event_links) as links,
        position::int, pruned_position::int as pruned from event_log`,
    ([row]) => row!
  )
)

/** Prunes the events up to a position, in one pass. */
const pruneTo = Effect.fnUntraced(function* (position: number) {
  yield* prune
  assert.strictEqual((yield* log)["pruned"], position)
})

/** Logs changes of many records that are older than `HISTORY_DAYS`, and returns the position of the last one. */
const makeOld = Effect.fnUntraced(function* (count: number) {
  yield* Postgres.execute(`insert into asset_categories (uuid, key, translations, position)
    select gen_random_uuid(), 'category-' || gen_random_uuid(), '[]', 0 from generate_series(1, ${count}) i`)
  yield* sealed
  const { position } = yield* log
  yield* age(position!, 31)
  return position!
})

layer(TestServer.layer({ HISTORY_DAYS: "30" }), { excludeTestServices: true })("pruning of the log", (it) => {
  it.effect("events older than HISTORY_DAYS are removed with their links, and the rest verifies", () =>
    Effect.gen(function* () {
      const group = yield* Products.createGroup({ name: "Managers" })
      const users = yield* Effect.forEach([1, 2, 3], () => Products.createUser({ groups: [group] }))
      yield* sealed
      const before = yield* log
      yield* age(before["position"]!, 31)
      const old = yield* eventsAfter()
      yield* send("PATCH", `/v1/users/${users[0]}`, { body: { firstName: "Ada" } })
      yield* sealed
      yield* pruneTo(before["position"]!)
      assert.deepStrictEqual(yield* log, {
        events: 1,
        links: 0,
        position: before["position"]! + 1,
        pruned: before["position"]!
      })
      const { events } = yield* eventsAfter()
      assert.deepStrictEqual(
        events.map(({ record, type }) => [type, record.uuid]),
        [["user.updated", users[0]]]
      )
      const { begin, damages } = yield* Effect.provide(verify(), Postgres.untimed)
      assert.deepStrictEqual([begin.position, damages], [before["position"], []])
      // A cursor before what is retained has expired; the one it names has not.
      const expired = yield* send("GET", `/v1/events?after=${old.events[0]!.cursor}`)
      const { oldest } = expectError(expired, 410, "CursorExpiredError")
      assert.lengthOf((yield* send("GET", `/v1/events?after=${oldest}`)).body.data, 1)
      assert.lengthOf((yield* send("GET", `/v1/events?after=${old.cursor}`)).body.data, 1)
    })
  )

  it.effect("an event keeps the label of its record after the events before it were pruned", () =>
    Effect.gen(function* () {
      const group = yield* Products.createGroup({ name: "Directors" })
      yield* sealed
      const { position } = yield* log
      yield* age(position!, 31)
      yield* pruneTo(position!)
      yield* send("PATCH", `/v1/groups/${group}`, { body: { description: "All of them" } })
      const { events } = yield* eventsAfter("", `&record=${group}`)
      assert.deepStrictEqual(
        events.map(({ record }) => record.label),
        ["Directors"]
      )
    })
  )

  it.effect("more events than one batch are removed, also by two processes at once, and none that is retained", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* pooled`insert into asset_categories (uuid, key, translations, position)
        select gen_random_uuid(), 'category-' || i, '[]', 0 from generate_series(1, 2500) i`
      yield* sealed
      const { position } = yield* log
      yield* pooled`update asset_categories set position = 1 where key in ('category-1', 'category-2')`
      yield* sealed
      yield* age(position!, 31)
      yield* Effect.all([prune, prune], { concurrency: "unbounded" })
      yield* pruneTo(position!)
      assert.deepInclude(yield* log, { events: 2, pruned: position! })
    })
  )

  it.effect("a pass removes all old events, also when the log is being sealed during one of its steps", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const position = yield* makeOld(1500)
      const [held, tried] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = Effect.gen(function* () {
        yield* pooled`select from event_log for update`
        yield* Deferred.succeed(held, undefined)
        yield* Deferred.await(tried)
      })
      const sealing = yield* Effect.forkChild(pooled.withTransaction(holding))
      yield* Deferred.await(held)
      let steps = 0
      // The second step comes after one that could not prune.
      yield* Effect.provideService(pruneTo(position), Statement.CurrentTransformer, (statement) =>
        Effect.as(++steps === 2 ? Deferred.succeed(tried, undefined) : Effect.void, statement)
      )
      yield* Fiber.join(sealing)
    })
  )

  it.effect("the facts of a file are removed once the log does not reach back to its deletion", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const files = yield* Effect.forEach(["old.png", "new.png"], (name) => fileRow(name, 7, "image/png"))
      for (const file of files) {
        const uuid = yield* createAsset({ fileUuid: file })
        yield* patchAsset(uuid, { fileUuid: yield* fileRow("now.txt") })
        yield* pooled`delete from files where uuid = ${file}`
      }
      yield* pooled`update past_files set deleted_at = now() - interval '31 days' where uuid = ${files[0]!}`
      yield* prune
      const left = yield* pooled<{
        readonly uuid: string
      }>`select uuid from past_files where uuid = any (${files}::uuid[])`
      assert.deepStrictEqual(left, [{ uuid: files[1]! }])
    })
  )
})

const unprepared = Postgres.sql.pipe(
  Layer.provideMerge(TestServer.settings({ HISTORY_DAYS: "30", DATABASE_PREPARE: "false" }))
)
layer(unprepared, { excludeTestServices: true })("pruning of events that take long", (it) => {
  it.effect("events of which a thousand exceed the statement timeout are removed in smaller parts", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const position = yield* makeOld(1000)
      yield* pooled.unsafe(
        "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.002); return old; end $$"
      )
      yield* pooled.unsafe("create trigger slow before delete on events for each row execute function slow()")
      yield* Effect.provide(pruneTo(position), Postgres.hurried(1000))
    })
  )
})

layer(unprepared, { excludeTestServices: true })("pruning concurrent with sealing", (it) => {
  it.effect("the log can be sealed after each statement that prunes", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* pooled.unsafe(
        "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return null; end $$"
      )
      yield* pooled.unsafe("create trigger slow before delete on events for each statement execute function slow()")
      const position = yield* makeOld(6000)
      const pruned = new Set<number>()
      const lock = Effect.tap(
        pooled<{ readonly position: number }>`
          select pruned_position::float8 as position from event_log for update skip locked`,
        (rows) => Effect.sync(() => rows.forEach((row) => pruned.add(row.position)))
      )
      // A process that seals tries to every 100 ms, by the clock of the pauses between the statements that prune.
      yield* Effect.gen(function* () {
        const pruning = yield* Effect.forkChild(prune)
        while (pruning.pollUnsafe() === undefined) {
          yield* TestClock.adjust("100 millis")
          yield* lock
          yield* TestClock.withLive(Effect.sleep("20 millis"))
        }
        yield* Fiber.join(pruning)
      }).pipe(Effect.provide(TestClock.layer()))
      for (const step of [1000, 2000, 3000, 4000, 5000]) assert.include([...pruned], position - step)
    })
  )
})
