import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Logger } from "effect"
import { PersistedQueue } from "effect/persistence"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { CurrentShare, firstShare } from "../domain/keys/Share.ts"
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
    /** The connection of `lookups`, or one to a replica while no primary answers. */
    readonly keys: SqlClient.SqlClient
    readonly spares: ReplicaReads.Spares
    /** Whether the server keeps prepared statements; a pooler in transaction mode does not. */
    readonly isPreparing: boolean
    /** A connection that is open only while a process delivers events to webhooks; it is not one of `DATABASE_POOL_SIZE`. */
    readonly deliveries: SqlClient.SqlClient
    /** Reads a page of several megabytes. A key does this one page at a time, and the process two. */
    readonly largePages: <A, E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Writes many records. The process does this twice at a time, and a key that is not alone once. */
    readonly manyWrites: FairPermits.Turns
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
      const { maxLong } = Pools
      const { maxWait } = yield* Pools.StatementLimits
      const largePages = FairPermits.make({ permits: 2, maxShare: 0.5, maxLong, maxWait })
      const manyWrites = FairPermits.make({ permits: 2, maxShare: 1, maxLong: 1, maxWait })
      const finished = { isLong: true, isFinished: true } as const
      return Sql.of({
        ...(replicas.length === 0 ? primary : ReplicaReads.make(primary)),
        lookups,
        keys: replicas.length === 0 ? lookups : ReplicaReads.spared(lookups, spares),
        spares,
        isPreparing,
        deliveries: yield* connect(1, { multiplex: false }),
        largePages: (read) => largePages(read),
        manyWrites: Object.assign(<A, E, R>(write: Effect.Effect<A, E, R>) => manyWrites(write, finished), {
          ifFree: <A, E, R>(write: Effect.Effect<A, E, R>) => manyWrites.ifFree(write, finished)
        })
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
}

/** The table of the job queue, and the number of the last migration of its library. */
export const jobTable = "jobs"
export const lastJobMigration = 2

/** For how long a job belongs to the process that took it last, unless that process extends it. */
export const jobLease = "2 minutes"

/** The job queue logs the cause of a failure without a text. */
const withText = <A>(logger: Logger.Logger<unknown, A>) =>
  Logger.make<unknown, A>((options) =>
    logger.log(
      Array.isArray(options.message) && options.message.length === 0
        ? { ...options, message: "Could not read the job queue" }
        : options
    )
  )

/** The job queue, which creates and changes its tables: the library locks their ledger to see whether any migration is pending. */
export const migratingJobs = PersistedQueue.layerStoreSql({
  tableName: jobTable,
  pollInterval: "1 second",
  lockExpiration: jobLease
}).pipe(
  Layer.provide(
    Layer.effect(
      Logger.CurrentLoggers,
      Effect.map(Logger.CurrentLoggers, (loggers) => new Set([...loggers].map(withText)))
    )
  )
)

/** A client whose transactions do nothing. The migrator of the library uses it, and the queue itself that without transforms. */
const withoutMigrator = (client: SqlClient.SqlClient): SqlClient.SqlClient =>
  new Proxy(client, {
    get: (target, member): unknown => {
      if (member === "withTransaction") return () => Effect.succeed([])
      if (member === "withoutTransforms") return () => target
      return Reflect.get(target, member)
    }
  })

/**
 * The job queue, which several processes share, on tables to which all migrations were applied. It does not lock their ledger: a
 * process that starts while a backup copies rows would wait for it. It renews what the process has taken also while keys use all
 * connections: a wait that ends without one would end the renewals of the library for good.
 */
export const jobs = Layer.provide(
  migratingJobs,
  Layer.merge(
    Layer.effect(SqlClient.SqlClient, Effect.map(SqlClient.SqlClient, withoutMigrator)),
    Layer.succeed(CurrentShare, firstShare)
  )
)

/** The limits on time of sessions of the service. Behind a pooler the role has them, and a transaction can only lift them itself. */
const timeLimits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]

/** A client whose transactions have no limit on time, also where the role has some. */
const unlimited = (client: PgClient.PgClient): PgClient.PgClient => {
  const { withTransaction } = client
  // A query would take the snapshot before the transaction has its isolation level.
  const lift = Effect.forEach(timeLimits, (limit) => client`set local ${client.literal(limit)} = 0`, { discard: true })
  return Object.assign(client, {
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => withTransaction(Effect.andThen(lift, effect))
  })
}

/**
 * A single connection for maintenance, whose transactions have no time limit. It may be idle for hours, so keep-alive packets
 * prevent firewalls and proxies from dropping it.
 */
export const maintenanceClient = Layer.unwrap(
  Effect.gen(function* () {
    const { DATABASE_PREPARE: prepare } = yield* Settings
    const database = yield* Database
    const client = PgClient.make({
      ...database,
      prepare,
      maxConnections: 1,
      maxMessageSize: Pools.maxMessageSize,
      ...Pools.connectTimeout(database),
      keepAlive: "1 minute"
    })
    return PgClient.layerFrom(Effect.map(client, unlimited))
  })
)
