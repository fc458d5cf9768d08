import { Effect, Layer, Logger } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { CurrentShare, firstShare } from "../../domain/keys/Share.ts"

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
