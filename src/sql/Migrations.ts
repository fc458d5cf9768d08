import { Effect, Layer, Schedule } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import { codeOf } from "../settings/Installation.ts"
import { SettingsError } from "../settings/SettingsError.ts"
import { jobTable, lastJobMigration, migratingJobs } from "./connections/JobQueue.ts"
import { maintenanceClient } from "./connections/Maintenance.ts"
import { canSucceedLater, isLocked } from "./SqlErrors.ts"

/** The ledgers of the migrations applied to Waypost's tables and to those of the queue, and the table of the queue. */
export const migrationTables = {
  waypost: "waypost_migrations",
  queue: jobTable,
  jobs: `${jobTable}_migrations`
} as const

/** All migrations, oldest first. */
export const migrations = MigratorFileSystem.fromFileSystem(codeOf("sql/migrations"))

/** The oldest major version of PostgreSQL that has what the migrations use. */
const minVersion = 15

interface Server {
  readonly database: string
  readonly encoding: string
  readonly version: string
}

/** Why a server, or its database, cannot have the tables. */
export const unsuitable = ({ database, encoding, version }: Server): string | undefined => {
  if (Number.parseInt(version, 10) < minVersion) {
    return `the server is PostgreSQL ${version}; Waypost needs ${minVersion} or newer`
  }
  if (encoding === "UTF8") return undefined
  return `the database ${database} has the encoding ${encoding}; create it with encoding 'UTF8' locale 'C.UTF-8' template template0`
}

const checkServer = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [server] = yield* sql<Server>`
    select current_database() as database, current_setting('server_encoding') as encoding,
      current_setting('server_version') as version`
  const reason = unsuitable(server!)
  if (reason !== undefined) return yield* new SettingsError({ message: `DATABASE_URL: ${reason}` })
})

/**
 * How long a migration waits for a table, in milliseconds. The requests that use it wait as long, and those that use tables it has
 * locked before.
 */
const patience = 300

/** One attempt of as many also outlasts an autovacuum: PostgreSQL ends one only for what has waited for `deadlock_timeout`. */
const attemptsPerLongOne = 5

/** Applies the pending migrations up to a number in one transaction, and returns the applied ones. */
const migrateOnce = (last: number, adapt = (migration: Migrator.ResolvedMigration) => migration) =>
  Migrator.make({})({
    loader: Effect.map(migrations, (known) => known.filter(([id]) => id <= last).map((each) => adapt(each))),
    table: migrationTables.waypost
  })

/** A migration that fails when it does not get a table in time; the first attempt is 0. */
const impatient =
  (attempt: number) =>
  ([id, name, load]: Migrator.ResolvedMigration): Migrator.ResolvedMigration => [
    id,
    name,
    Effect.map(load, (module: { readonly default: Effect.Effect<unknown, unknown, SqlClient.SqlClient> }) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => {
        const longer = (attempt + 1) % attemptsPerLongOne === 0 ? sql`setting::int` : sql`0`
        return Effect.andThen(
          sql`select set_config('lock_timeout', (${longer} + ${patience}::int)::text, true)
            from pg_settings where name = 'deadlock_timeout'`,
          module.default
        )
      })
    )
  ]

/** Applies a migration while nodes serve: gives back what it has locked, and tries again, when it does not get a table. */
const migratePatiently = (id: number) =>
  Effect.flatMap(Schedule.CurrentMetadata, ({ attempt }) => migrateOnce(id, impatient(attempt))).pipe(
    Effect.retry({
      while: (error) => error._tag === "MigrationError" && canSucceedLater(error.cause),
      schedule: Schedule.spaced("300 millis").pipe(
        Schedule.jittered,
        Schedule.tap(({ attempt, input }) =>
          attempt % 50 === 1
            ? Effect.logWarning(
                `Migration ${id} does not get a table that requests or a vacuum use, and tries again`,
                input
              )
            : Effect.void
        )
      ),
      times: 200
    })
  )

/**
 * The number of the last migration in a ledger; none in a database without tables. It waits while another process migrates, so it is
 * a transaction: only that has no time limit.
 */
const lastApplied = Effect.fnUntraced(
  function* (ledger: string) {
    const sql = yield* SqlClient.SqlClient
    const [found] = yield* sql`select from pg_class where oid = to_regclass(${ledger})`
    if (found === undefined) return undefined
    const [row] = yield* sql<{ readonly last: number | null }>`select max(migration_id) as last from ${sql(ledger)}`
    return row!.last ?? undefined
  },
  (read) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(read))
)

/** Whether a database lacks migrations of this version. */
export const isOutdated = Effect.gen(function* () {
  const applied = (yield* lastApplied(migrationTables.waypost)) ?? 0
  return (yield* migrations).some(([id]) => id > applied)
})

/**
 * Applies the pending migrations, up to the number `last` if given, and returns the applied ones. Where nodes may serve, each is a
 * transaction of its own, so that none waits for a table while those of the migrations before it are locked. Where none is pending,
 * nothing is locked.
 */
export const migrateTo = (last = Infinity) =>
  Effect.gen(function* () {
    const applied = yield* lastApplied(migrationTables.waypost)
    const ids = (yield* migrations).map(([id]) => id)
    const done =
      applied === undefined
        ? [yield* Effect.andThen(checkServer, migrateOnce(last))]
        : yield* Effect.forEach(
            ids.filter((id) => id > applied && id <= last),
            migratePatiently
          )
    const appliedJobs = (yield* lastApplied(migrationTables.jobs)) ?? 0
    if (appliedJobs < lastJobMigration) yield* Effect.scoped(Layer.build(migratingJobs))
    return done.flat()
  })

/**
 * Applies the pending migrations with a client that waits for other processes that migrate: of several that start at the same time
 * one migrates.
 */
export const migrate = migrateTo().pipe(
  Effect.provide(maintenanceClient),
  Effect.retry({
    // A migration that did not get a table has tried for long enough.
    while: (error) => error._tag === "SqlError" || (error._tag === "MigrationError" && !isLocked(error.cause)),
    schedule: Schedule.exponential("200 millis"),
    times: 5
  })
)
