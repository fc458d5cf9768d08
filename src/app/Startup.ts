import { Effect, Layer, Option, Path, type PlatformError } from "effect"
import type { HttpServerError } from "effect/http"
import type { Migrator, SqlError } from "effect/sql"
import { connectionsOf, processesOf, Settings } from "../settings/Config.ts"
import { isBuilt } from "../settings/Installation.ts"
import type { SettingsError } from "../settings/SettingsError.ts"
import * as DataFolder from "./DataFolder.ts"
import * as FirstKey from "./FirstKey.ts"
import * as EmbeddedPostgres from "../postgres/EmbeddedPostgres.ts"
import { defaultConnections } from "../postgres/ServerProcess.ts"
import { messageOf } from "../postgres/SystemMessage.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { migrate } from "../sql/Migrations.ts"
import { Database } from "../sql/Sql.ts"
import { isUnreachable, isUntrusted } from "../sql/SqlErrors.ts"
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

const directoryIn = (path: Path.Path, folder: string) => path.join(folder, "postgres")

/** Whether the data folder has an embedded database. Creates nothing. */
export const hasEmbedded = Effect.gen(function* () {
  const { DATA_DIR } = yield* Settings
  const path = yield* Path.Path
  return yield* EmbeddedPostgres.exists(directoryIn(path, path.resolve(DATA_DIR)))
})

/** The configured database; without one, starts the embedded one in the data folder. */
export const database = configuredOr(
  Effect.gen(function* () {
    const settings = yield* Settings
    const path = yield* Path.Path
    const folder = yield* DataFolder.make
    return yield* EmbeddedPostgres.start({
      dataDir: directoryIn(path, folder),
      // Each process has one more for deliveries; the 50 extra connections are for the command line and for psql.
      settings: {
        max_connections: String(Math.max(defaultConnections, connectionsOf(settings) + processesOf(settings) + 50))
      }
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

/**
 * Fails when the process that owns the embedded database ends, because the socket of the next server is another one. A service
 * can begin while another one or a command runs on its data folder.
 */
export const databaseEnded = Effect.gen(function* () {
  const { path: socket } = yield* Database
  const owner = socket === undefined ? Option.none() : yield* EmbeddedPostgres.otherOwner(socket)
  if (Option.isNone(owner)) return yield* Effect.never
  const { DATA_DIR } = yield* Settings
  const belongs = `The database of ${DATA_DIR} belongs to process ${owner.value}`
  yield* Effect.logWarning(
    `${belongs}, and this service ends when that process does; DATABASE_URL sets another database`
  )
  yield* EmbeddedPostgres.ownerEnded(owner.value)
  return yield* new EmbeddedPostgres.EmbeddedPostgresError({
    message: `${belongs}, which has ended. Start again, or set DATABASE_URL.`
  })
})

/** Applies the migrations. */
export const migrations = Layer.effectDiscard(
  Effect.gen(function* () {
    const applied = yield* migrate
    if (applied.length > 0) yield* Effect.logInfo(`Applied ${applied.length} database migrations`)
  })
)

/** Prints the first key, and the addresses of the console, the documentation and the service. */
export const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    const { origin: url } = yield* PublicUrl
    if (!isBuilt)
      yield* Effect.logInfo("The sources run, because dist/program was not built from them; npm run build does")
    yield* FirstKey.create
    yield* Effect.logInfo(`Console: ${url}/console`)
    yield* Effect.logInfo(`API documentation: ${url}/docs`)
    // Scripts wait for this line, so it comes last.
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
      if (isUntrusted(error)) {
        return `The certificate of the database is not accepted: ${messageOf(error.reason.cause)}. If its CA is not public, such as that of a provider, set NODE_EXTRA_CA_CERTS in the environment to the file of the CA.`
      }
      return isUnreachable(error)
        ? `Cannot reach the database: ${messageOf(error.reason.cause)}. Check that it runs and that DATABASE_URL, if it is set, is correct.`
        : `The database answered with an error: ${messageOf(error.reason.cause)}.`
    case "MigrationError":
      return `Cannot bring the tables up to date: ${error.message} ${messageOf(error.cause)}`
    case "WorkerEndedError":
      return error.message
    case "StorageUnavailableError":
      return `Cannot use the storage: ${error.message}`
    case "PlatformError":
      return `Cannot use the data folder: ${messageOf(error)}. Choose another DATA_DIR.`
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
