import { Data, Effect, Exit, Option, Ref, Schedule, Scope } from "effect"
import type { DataDirectory } from "./DataDirectory.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import type { NativeBinaries } from "./NativeBinaries.ts"
import * as Postmaster from "./Postmaster.ts"
import * as ServerProcess from "./ServerProcess.ts"
import * as SocketDirectory from "./SocketDirectory.ts"

/** Another server uses the directory, or the backends of a killed one still hold its memory. A later attempt may succeed. */
class DirectoryInUse extends Data.TaggedError("DirectoryInUse")<{ readonly message: string }> {}

const found = (directory: string) =>
  Effect.orElseSucceed(Postmaster.read(directory), Option.none<Postmaster.Postmaster>)

/**
 * The server belongs to this process if its file names the socket directory of this process: another one may have been
 * faster. The file of a killed server also reports that it is ready.
 */
const ready = Effect.fnUntraced(function* (
  directory: string,
  sockets: string,
  before: Option.Option<Postmaster.Postmaster>
) {
  const old = Option.getOrUndefined(before)?.content
  while (true) {
    const postmaster = Option.getOrUndefined(yield* found(directory))
    if (postmaster?.ready && postmaster.socketDirectory === sockets && postmaster.content !== old) {
      if (yield* Postmaster.signal(postmaster.pid, 0)) return postmaster
    }
    yield* Effect.sleep("10 millis")
  }
})

/** Waits until it accepts connections. Fails if it ends before that. */
const begin = Effect.fnUntraced(function* (data: DataDirectory, sockets: string, command: ReadonlyArray<string>) {
  const { directory } = data
  const before = yield* found(directory)
  const server = yield* ServerProcess.spawn(data, sockets, command)
  const died = Effect.gen(function* () {
    const { lines, status } = yield* ServerProcess.awaitExit(server)
    if (/lock file "[^"]+" already exists/.test(lines) || lines.includes("pre-existing shared memory block")) {
      return yield* new DirectoryInUse({ message: lines })
    }
    return yield* new EmbeddedPostgresError({
      message:
        `PostgreSQL could not be started on ${directory} and ended with ${status}. Last lines of its output:\n` + lines
    })
  })
  // Without a time limit, because recovery after a crash starts over when it is interrupted.
  const postmaster = yield* Effect.raceFirst(ready(directory, sockets, before), died)
  const ended = Effect.flatMap(ServerProcess.awaitExit(server), ({ lines, status }) =>
    Effect.logError(
      `PostgreSQL on ${directory} ended with ${status} while it was in use and is restarted; the database ` +
        `recovers by itself. Last lines of its output:\n${lines}`
    )
  )
  return { postmaster, ended }
})

/** Retries until it runs: the backends of a killed server need a moment to end, and a full disk needs the operator. */
const patience = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("5 seconds")])

/** Attempts before reporting that the data directory is locked; they take about four seconds. */
const attemptsBeforeReport = 7

/** A failed start leaves nothing behind. */
const whole = Effect.fnUntraced(function* <A, E, R>(start: Effect.Effect<A, E, R>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* start.pipe(
    Scope.provide(scope),
    Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
  )
})

/** Replaces a server whose guard was killed, because such a server would outlive this process. */
const endUnguarded = Effect.fnUntraced(function* (directory: string, sockets: string) {
  const postmaster = Option.getOrUndefined(yield* found(directory))
  if (postmaster?.socketDirectory !== sockets || !(yield* Postmaster.serves(postmaster, directory))) return
  yield* Postmaster.signal(postmaster.pid, "SIGINT")
  return yield* new DirectoryInUse({ message: `The unguarded server ${postmaster.pid} is being stopped` })
})

/** Restarts a killed server on the same socket, which its clients connect to. */
const keep = Effect.fnUntraced(function* (data: DataDirectory, sockets: string, command: ReadonlyArray<string>) {
  const attempts = yield* Ref.make(0)
  const another = Effect.gen(function* () {
    yield* endUnguarded(data.directory, sockets)
    yield* SocketDirectory.again(sockets, data.account)
    return yield* begin(data, sockets, command)
  }).pipe(
    whole,
    Effect.tapError(
      Effect.fnUntraced(function* (error) {
        if (error._tag !== "DirectoryInUse") return yield* Effect.logError("PostgreSQL could not be restarted", error)
        if ((yield* Ref.updateAndGet(attempts, (count) => count + 1)) !== attemptsBeforeReport) return
        yield* Effect.logError(
          `PostgreSQL on ${data.directory} cannot be restarted while another process uses that directory. ` +
            `The service keeps trying. The last error was:\n${error.message}`
        )
      })
    )
  )
  return yield* Ref.set(attempts, 0).pipe(
    Effect.andThen(Effect.retry(another, patience)),
    Effect.flatMap(({ ended }) => ended),
    Effect.scoped,
    // Also after a successful start that ends at once.
    Effect.repeat(Schedule.spaced("100 millis"))
  )
})

/** Starts a server that ends with the scope, or with this process. */
export const launch = Effect.fnUntraced(function* (
  data: DataDirectory,
  binaries: NativeBinaries,
  settings: Readonly<Record<string, string>>
) {
  const start = Effect.gen(function* () {
    const sockets = yield* SocketDirectory.make(data.account)
    const command = [binaries.postgres, ...ServerProcess.parameters(data.directory, sockets, settings)]
    const { ended, postmaster } = yield* begin(data, sockets, command)
    yield* Effect.forkScoped(Effect.andThen(ended, keep(data, sockets, command)))
    return postmaster
  })
  return yield* whole(start)
})
