import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule } from "effect"
import { PersistedQueue } from "effect/persistence"
import { Reactivity } from "effect/reactivity"
import { Migrator, type SqlClient } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { Settings } from "../settings/Config.ts"
import { streamOf } from "./connections/DatabaseSocket.ts"
import * as FairClient from "./connections/FairClient.ts"
import * as FairPermits from "./connections/FairPermits.ts"

/** The connection settings: a URL, or the socket of the embedded server. */
export class Database extends Context.Service<Database, PgClient.PgClientConfig>()("waypost/sql/Sql/Database") {}

/**
 * The pools, which together have `DATABASE_POOL_SIZE` connections.
 *
 * `pipelined` sends the statements of many requests over two connections; only cheap reads belong there (by key, small
 * pages off an index), because such a statement cannot be cancelled and others wait behind it. All other statements, and
 * all writes, use a `pooled` connection, where the statement timeout ends those that run too long.
 *
 * `lookups` never waits behind a statement of a client: keys, rate limits and readiness are read over it. A pool of fewer
 * than six connections has none to spare for it.
 */
export class Sql extends Context.Service<
  Sql,
  {
    readonly pipelined: SqlClient.SqlClient
    /** Each share of keys has a part of these connections. */
    readonly pooled: SqlClient.SqlClient
    /**
     * Runs a statement that may take long on one of the same connections, composed once its turn comes; it yields to other
     * keys.
     */
    readonly search: <A, E, R>(run: (client: SqlClient.SqlClient) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    readonly lookups: SqlClient.SqlClient
    /** Whether the server keeps prepared statements; a pooler in transaction mode does not. */
    readonly isPreparing: boolean
    /** A connection that is open only while a process delivers events to webhooks; it is not one of `DATABASE_POOL_SIZE`. */
    readonly deliveries: SqlClient.SqlClient
    /** Reads a page of several megabytes. A key does this one page at a time, and the process two. */
    readonly largePages: <A, E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Writes many records. The process does this twice at a time, and a key that is not alone once. */
    readonly manyWrites: <A, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("waypost/sql/Sql") {
  static readonly layer = Layer.effect(
    Sql,
    Effect.gen(function* () {
      const { DATABASE_POOL_SIZE: size, DATABASE_PREPARE: prepare, KEY_SHARE: maxShare } = yield* Settings
      const database = {
        ...(yield* Database),
        prepare,
        connectTimeout: "2 seconds" as const,
        applicationName: "waypost"
      }
      const connect = (maxConnections: number, { multiplex }: { readonly multiplex: boolean }) =>
        PgClient.make({
          ...database,
          stream: streamOf(database, { batched: multiplex }),
          multiplex,
          maxConnections,
          // A pooler in transaction mode opens the sessions itself and rejects startup parameters.
          ...(prepare ? { startupParameters: timeouts } : {})
        })
      const [hasPipelined, hasOwn] = [size >= 4, size >= 6]
      const permits = size - (hasPipelined ? 2 : 0) - (hasOwn ? 1 : 0)
      const pool = yield* connect(permits, { multiplex: false })
      const withPermit = FairPermits.make({ permits, maxShare, maxLong, maxWait })
      const pooled = FairClient.make(pool, withPermit)
      const pipelined = hasPipelined ? yield* connect(2, { multiplex: true }) : pooled
      const lookups = hasOwn ? yield* connect(1, { multiplex: true }) : pipelined
      const largePages = FairPermits.make({ permits: 2, maxShare: 0.5, maxLong, maxWait })
      const manyWrites = FairPermits.make({ permits: 2, maxShare: 1, maxLong: 1, maxWait })
      return Sql.of({
        pipelined,
        pooled,
        search: (run) =>
          withPermit(
            Effect.suspend(() => run(pool)),
            { isLong: true }
          ),
        lookups,
        isPreparing: prepare,
        deliveries: yield* connect(1, { multiplex: false }),
        largePages: (read) => largePages(read),
        manyWrites: (write) => manyWrites(write, { isLong: true, isFinished: true })
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
}

/** Long statements of one key leave a processor to others, as the database often has the same number of them. */
const maxLong = Math.max(1, Math.min(2, availableParallelism() - 1))

/** How long a statement waits for its share of the connections. */
const maxWait = "10 seconds"

const timeouts = {
  // Compiling a plan takes longer than running any of these statements.
  jit: "off",
  statement_timeout: "5000",
  lock_timeout: "2000",
  idle_in_transaction_session_timeout: "10000"
}

const directory = fileURLToPath(new URL("./migrations", import.meta.url))

const queue = "jobs"

/** The job queue, which several processes share. It creates its tables here, on a connection without a lock timeout. */
export const jobs = PersistedQueue.layerStoreSql({ tableName: queue, pollInterval: "1 second" })
const jobTables = Effect.scoped(Layer.build(jobs))

/** The ledgers of the migrations applied to Waypost's tables and to those of the queue, and the table of the queue. */
export const migrationTables = { waypost: "waypost_migrations", queue, jobs: `${queue}_migrations` } as const

/** All migrations, oldest first. */
export const migrations = MigratorFileSystem.fromFileSystem(directory)

/** Applies the pending migrations, up to the number `last` if given, and returns the applied ones. */
export const migrateTo = (last = Infinity) =>
  Migrator.make({})({
    loader: Effect.map(migrations, (known) => known.filter(([id]) => id <= last)),
    table: migrationTables.waypost
  }).pipe(Effect.tap(() => jobTables))

/**
 * A single connection without time limits, for maintenance. It may be idle for hours, so keep-alive packets prevent
 * firewalls and proxies from dropping it.
 */
export const maintenanceClient = Layer.unwrap(
  Effect.gen(function* () {
    const { DATABASE_PREPARE: prepare } = yield* Settings
    const database = yield* Database
    return PgClient.layer({
      ...database,
      prepare,
      maxConnections: 1,
      connectTimeout: "2 seconds",
      keepAlive: "1 minute"
    })
  })
)

/**
 * Applies the pending migrations with a client that has no lock timeout: of several processes that start at the same time
 * one migrates and the others wait for it.
 */
export const migrate = migrateTo().pipe(
  Effect.provide(maintenanceClient),
  Effect.retry({ schedule: Schedule.exponential("200 millis"), times: 5 })
)
