import { assert, it } from "@effect/vitest"
import { Array as Arr, Deferred, Effect, Layer, Logger, Queue, Schema } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { setImmediate } from "node:timers/promises"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { jobs, jobTable } from "../../src/sql/connections/JobQueue.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import * as TestServer from "../support/TestServer.ts"
import { eventually } from "../support/Until.ts"

const pooled = Layer.effect(
  SqlClient.SqlClient,
  Effect.map(Sql, (sql) => sql.pooled)
)

it.live("a job queue that cannot be read is logged with a text and the cause", () => {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
  const warnings = Effect.sync(() => lines.filter((line) => line.includes('"level":"WARN"')))
  return Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* PersistedQueue.make({ name: "unread", schema: Schema.String })
    yield* sql.unsafe(`drop table ${jobTable} cascade`)
    yield* Effect.forkScoped(queue.take(() => Effect.void))
    const [line = ""] = yield* eventually("a line is logged", warnings, ({ length }) => length > 0)
    const { cause, message } = JSON.parse(line)
    assert.strictEqual(message, "Could not read the job queue")
    assert.include(cause, "jobs")
  }).pipe(
    Effect.scoped,
    Effect.provide(
      PersistedQueue.layer.pipe(
        Layer.provide(jobs),
        Layer.provideMerge(pooled),
        Layer.provide(Postgres.sql),
        Layer.provide(TestServer.settings()),
        Layer.provide(logger)
      )
    )
  )
})

it.effect("jobs that a process has taken are renewed as soon as one of twenty keys leaves a connection", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* PersistedQueue.make({ name: "renewed", schema: Schema.String })
    const taken = yield* Deferred.make<void>()
    yield* queue.offer("job")
    yield* Effect.forkScoped(queue.take(() => Effect.andThen(Deferred.succeed(taken, undefined), Effect.never)))
    yield* Deferred.await(taken)
    yield* sql.unsafe(`update ${jobTable} set acquired_at = now() - interval '1 hour'`)
    const ends = yield* Queue.unbounded<void>()
    const allBusy = yield* Deferred.make<void>()
    let begun = 0
    const busy = sql.withTransaction(
      Effect.andThen(
        Effect.suspend(() => (++begun === 7 ? Deferred.succeed(allBusy, undefined) : Effect.void)),
        Queue.take(ends)
      )
    )
    for (const index of Arr.range(1, 20)) {
      const share = { id: `key ${index}`, weight: 1, isAlone: () => false }
      yield* Effect.forkScoped(Effect.provideService(busy, CurrentShare, share), { startImmediately: true })
    }
    yield* Deferred.await(allBusy)
    yield* TestClock.adjust("30 seconds")
    // The renewal has begun to wait.
    for (let turn = 0; turn < 20; turn++) yield* Effect.promise(() => setImmediate())
    yield* Queue.offer(ends, undefined)
    const isRenewed = Postgres.execute(`select from ${jobTable} where acquired_at > now() - interval '1 minute'`)
    yield* TestClock.withLive(eventually("the job is renewed", isRenewed, ({ length }) => length === 1))
  }).pipe(
    Effect.scoped,
    Effect.provide(
      PersistedQueue.layer.pipe(
        Layer.provide(jobs),
        Layer.provideMerge(pooled),
        Layer.provideMerge(Postgres.sql),
        Layer.provide(TestServer.settings({ DATABASE_PREPARE: "false" }))
      )
    )
  )
)
