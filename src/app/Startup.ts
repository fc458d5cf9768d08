import { Effect, FileSystem, Layer, Option, Path, type PlatformError } from "effect"
import type { HttpServerError } from "effect/http"
import type { Migrator, SqlError } from "effect/sql"
import { connectionsOf, Settings, type SettingsError } from "../settings/Config.ts"
import * as Permission from "../domain/keys/Permission.ts"
import { printLine } from "./Observability.ts"
import * as EmbeddedPostgres from "../postgres/EmbeddedPostgres.ts"
import { defaultConnections } from "../postgres/ServerProcess.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { Database, migrate } from "../sql/Sql.ts"
import { ApiKeys } from "../services/ApiKeys.ts"
import type { StorageUnavailableError } from "../storage/Storage.ts"
import type { WorkerEndedError } from "./WorkerEndedError.ts"

type EmbeddedDatabase = ReturnType<typeof EmbeddedPostgres.at>

/** The configured database, or the embedded one. */
const configuredOr = <E, R>(embedded: Effect.Effect<EmbeddedDatabase, E, R>) =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const { DATABASE_URL } = yield* Settings
      if (Option.isSome(DATABASE_URL)) return { url: DATABASE_URL.value }
      const { database, socket, username } = yield* embedded
      return { path: socket, username, database }
    })
  )

/** The configured database; without one, starts the embedded one in the data folder. */
export const database = configuredOr(
  Effect.gen(function* () {
    const settings = yield* Settings
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = path.resolve(settings.DATA_DIR)
    yield* fileSystem.makeDirectory(folder, { recursive: true })
    return yield* EmbeddedPostgres.start({
      dataDir: path.join(folder, "postgres"),
      // The 50 extra connections are for the command line and for psql.
      settings: { max_connections: String(Math.max(defaultConnections, connectionsOf(settings) + 50)) }
    })
  })
)

/**
 * The database of a worker, which connects to the embedded one through `socket`. A worker starts no server: it would
 * lock the data directory and keep the supervisor from restarting its own.
 */
export const databaseAt = (socket: string | undefined) =>
  configuredOr(
    socket === undefined
      ? Effect.die("A worker needs the socket of the database")
      : Effect.succeed(EmbeddedPostgres.at(socket))
  )

/** Applies the migrations. */
export const migrations = Layer.effectDiscard(
  Effect.gen(function* () {
    const applied = yield* migrate
    if (applied.length > 0) yield* Effect.logInfo(`Applied ${applied.length} database migrations`)
  })
)

/** Creates the first key of an installation and prints it. */
const firstKey = Effect.gen(function* () {
  const { BOOTSTRAP_API_KEY } = yield* Settings
  const keys = yield* ApiKeys
  const created = yield* keys.createFirst(Permission.all, BOOTSTRAP_API_KEY)
  if (Option.isNone(created)) return
  yield* printLine(
    Option.isSome(BOOTSTRAP_API_KEY)
      ? "The first API key is the value of BOOTSTRAP_API_KEY"
      : `The first API key, shown only now: ${created.value.key}`
  )
})

/** Prints the first key, the address of the documentation and the address of the service. */
export const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    const { origin: url } = yield* PublicUrl
    yield* firstKey
    // Scripts wait for this line, so it comes last.
    yield* Effect.logInfo(`API documentation: ${url}/docs`)
    yield* Effect.logInfo(`Waypost serves ${url}`)
  })
)

/** The message of a start-up failure for the operator. */
export const startErrorMessage = (error: StartError): string => {
  switch (error._tag) {
    case "SettingsError":
    case "EmbeddedPostgresError":
      return error.message
    case "ServeError":
      return `Cannot listen: ${messageOf(error.cause)}. Choose another HOST or PORT; PORT=0 takes a free one.`
    case "SqlError":
      return `Cannot reach the database: ${messageOf(error.reason.cause)}. Check that it runs and that DATABASE_URL is correct.`
    case "MigrationError":
      return `Cannot bring the tables up to date: ${error.message} ${messageOf(error.cause)}`
    case "WorkerEndedError":
      return error.message
    case "StorageUnavailableError":
      return `Cannot use the storage: ${error.message}`
    case "PlatformError":
      return `Cannot use the data folder: ${error.message}. Choose another DATA_DIR.`
  }
}

/** The errors that can prevent a start. */
export type StartError =
  | SettingsError
  | EmbeddedPostgres.EmbeddedPostgresError
  | HttpServerError.ServeError
  | SqlError.SqlError
  | Migrator.MigrationError
  | PlatformError.PlatformError
  | StorageUnavailableError
  | WorkerEndedError

/** The innermost message: that of PostgreSQL or the operating system. */
const messageOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.cause === undefined ? cause.message : messageOf(cause.cause)) : ""
