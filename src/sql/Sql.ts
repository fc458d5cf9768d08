import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule } from "effect"
import { PersistedQueue } from "effect/persistence"
import { Reactivity } from "effect/reactivity"
import { Migrator, type SqlClient } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import { fileURLToPath } from "node:url"
import { Settings } from "../settings/Config.ts"
import * as FairPermits from "./connections/FairPermits.ts"
import * as Pools from "./connections/Pools.ts"
import * as ReplicaReads from "./connections/ReplicaReads.ts"

/** The connection settings: a URL, or the socket of the embedded server. */
export class Database extends Context.Service<Database, PgClient.PgClientConfig>()("waypost/sql/Sql/Database") {}

/**
 * The connections to the database, which together are `DATABASE_POOL_SIZE`; reads of a request that has a replica go there.
 *
 * `lookups` never waits behind a statement of a client: keys, rate limits and readiness are read over it. A pool of fewer
 * than six connections has none to spare for it.
 */
export class Sql extends Context.Service<
  Sql,
  Pools.Pools & {
    readonly lookups: SqlClient.SqlClient
    /** As `lookups`; off a replica while no primary answers. */
    readonly keys: SqlClient.SqlClient
    readonly spares: ReplicaReads.Spares
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
      const {
        DATABASE_POOL_SIZE: size,
        DATABASE_PREPARE: isPreparing,
        DATABASE_REPLICA_URLS: replicas
      } = yield* Settings
      const connect = yield* Pools.connector(yield* Database)
      const hasOwn = size >= 6
      const primary = yield* Pools.make(connect, size - (hasOwn ? 1 : 0))
      const lookups = hasOwn ? yield* connect(1, { multiplex: true }) : primary.pipelined
      const spares = new ReplicaReads.Spares()
      const { maxLong, maxWait } = Pools
      const largePages = FairPermits.make({ permits: 2, maxShare: 0.5, maxLong, maxWait })
      const manyWrites = FairPermits.make({ permits: 2, maxShare: 1, maxLong: 1, maxWait })
      return Sql.of({
        ...(replicas.length === 0 ? primary : ReplicaReads.make(primary)),
        lookups,
        keys: replicas.length === 0 ? lookups : ReplicaReads.spared(lookups, spares),
        spares,
        isPreparing,
        deliveries: yield* connect(1, { multiplex: false }),
        largePages: (read) => largePages(read),
        manyWrites: (write) => manyWrites(write, { isLong: true, isFinished: true })
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
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
