import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule } from "effect"
import { PersistedQueue } from "effect/persistence"
import { Reactivity } from "effect/reactivity"
import { Migrator, type SqlClient } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import { fileURLToPath } from "node:url"
import { Settings } from "../Config.ts"
import { streamOf } from "./BatchedSocket.ts"

/** How the database is reached: a URL, or the socket of the embedded server. */
export class Database extends Context.Service<Database, PgClient.PgClientConfig>()(
  "waypost/repositories/Sql/Database"
) {}

/**
 * The two pools.
 *
 * `bounded` pipelines statements of many requests over two connections; only reads with a small bound belong there (by
 * key, first pages off an index), because such a statement cannot be cancelled and others wait behind it. Everything
 * else, and all writes, take an `ordinary` connection, where a statement timeout ends what runs away.
 */
export class Sql extends Context.Service<
  Sql,
  {
    readonly bounded: SqlClient.SqlClient
    readonly ordinary: SqlClient.SqlClient
  }
>()("waypost/repositories/Sql") {
  static readonly layer = Layer.effect(
    Sql,
    Effect.gen(function* () {
      const { DATABASE_POOL_SIZE: size, DATABASE_PREPARE: prepare } = yield* Settings
      const database = {
        ...(yield* Database),
        prepare,
        connectTimeout: "2 seconds" as const,
        applicationName: "waypost"
      }
      const pooled = (maxConnections: number, options: Pick<PgClient.PgClientConfig, "multiplex" | "stream"> = {}) =>
        PgClient.make({
          ...database,
          ...options,
          maxConnections,
          // A pooler in transaction mode hands out sessions it made itself and refuses settings for them.
          ...(prepare ? { startupParameters: timeouts } : {})
        })
      const ordinary = yield* pooled(size < 4 ? size : size - 2)
      const bounded = size < 4 ? ordinary : yield* pooled(2, { multiplex: true, ...streamOf(database) })
      return Sql.of({ bounded, ordinary })
    })
  ).pipe(Layer.provide(Reactivity.layer))
}

const timeouts = {
  // Compiling a plan takes longer than any statement here runs.
  jit: "off",
  statement_timeout: "5000",
  lock_timeout: "2000",
  idle_in_transaction_session_timeout: "10000"
}

const directory = fileURLToPath(new URL("./migrations", import.meta.url))

/** The queue of jobs, which several processes share; it makes its own tables, here, where no lock timeout ends it. */
export const jobs = PersistedQueue.layerStoreSql({ tableName: "jobs", pollInterval: "1 second" })
const jobTables = Effect.scoped(Layer.build(jobs))

/**
 * Brings the tables up to date. It has a client of its own, without lock timeout: of several processes that start at
 * once one migrates and the others wait for it.
 */
export const migrate = Effect.gen(function* () {
  const { DATABASE_PREPARE: prepare } = yield* Settings
  const database = yield* Database
  const run = Migrator.make({})({
    loader: MigratorFileSystem.fromFileSystem(directory),
    table: "waypost_migrations"
  })
  return yield* Effect.tap(run, () => jobTables).pipe(
    Effect.provide(PgClient.layer({ ...database, prepare, maxConnections: 1, connectTimeout: "2 seconds" })),
    Effect.retry({ schedule: Schedule.exponential("200 millis"), times: 5 })
  )
})
