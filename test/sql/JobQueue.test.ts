import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger, Schema } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { jobs, jobTable, Sql } from "../../src/sql/Sql.ts"
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
