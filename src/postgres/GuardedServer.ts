import * as NodeStream from "@effect/platform-node/NodeStream"
import {
  Data,
  Deferred,
  Effect,
  Exit,
  Fiber,
  type FileSystem,
  Option,
  type Path,
  Ref,
  Schedule,
  Scope,
  Stream
} from "effect"
import type { DataDirectory } from "./DataDirectory.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import type { NativeBinaries } from "./NativeBinaries.ts"
import * as Postmaster from "./Postmaster.ts"
import * as SocketDirectory from "./SocketDirectory.ts"
import * as Subprocess from "./Subprocess.ts"

/** Another server uses the directory, or the backends of a killed one still hold its memory. A later attempt may succeed. */
export class DirectoryInUse extends Data.TaggedError("DirectoryInUse")<{ readonly message: string }> {}

// The shell outlives us by the moment it needs: its end of the pipe from us closes however we end, kill -9 included,
// and SIGINT asks PostgreSQL for a fast shutdown. No process of Node is needed to stand guard. It asks several times,
// because PostgreSQL ignores signals at the beginning of its start. It closes its standard error, because the message of a
// shell about a killed child would end it once that pipe is closed. The first argument is the socket directory, which the
// shell removes, because no other process is left to do so.
const guard =
  'sockets=$1; shift; exec 3<&0; "$@" </dev/null 3<&- & server=$!; exec 2>/dev/null; ' +
  "{ read -r _ <&3; for wait in 0 0.1 0.2 0.5 1 2 5; do sleep $wait; kill -INT $server; done; } & watch=$!; " +
  'wait $server; status=$?; kill $watch; rm -rf "$sockets"; exit $status'

/** The default of `max_connections`. */
export const defaultConnections = 200

const parameters = (directory: string, sockets: string, settings: Readonly<Record<string, string>>) => [
  "-D",
  directory,
  "-k",
  sockets,
  "-p",
  String(Postmaster.port),
  ...Object.entries({
    max_connections: String(defaultConnections),
    shared_buffers: "128MB",
    ...settings,
    // Not configurable: these keep the server private and its messages on the pipe.
    listen_addresses: "",
    unix_socket_permissions: "0700",
    logging_collector: "off",
    log_destination: "stderr"
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`])
]

const stop = Effect.fnUntraced(
  function* ({ child, exited }: Subprocess.Subprocess, directory: string) {
    const exit = Effect.interruptible(Deferred.await(exited))
    yield* Effect.sync(() => child.stdin?.destroy())
    if (Option.isSome(yield* Effect.timeoutOption(exit, "20 seconds"))) return
    yield* Effect.logWarning(
      `PostgreSQL on ${directory} did not stop within 20 seconds and is made to; it recovers by ` +
        "itself at the next start."
    )
    const postmaster = yield* Postmaster.read(directory)
    if (Option.isNone(postmaster)) return
    for (const signal of ["SIGQUIT", "SIGKILL"] as const) {
      yield* Postmaster.signal(postmaster.value.pid, signal)
      if (Option.isSome(yield* Effect.timeoutOption(exit, "5 seconds"))) return
    }
  },
  (effect) => Effect.ignore(effect)
)

interface Server extends Subprocess.Subprocess {
  readonly tail: Ref.Ref<ReadonlyArray<string>>
  readonly drain: Fiber.Fiber<void, unknown>
}

/**
 * A full pipe without a reader blocks PostgreSQL, so reading begins with the process and continues until
 * the last line of the shutdown.
 */
const spawn = Effect.fnUntraced(function* (
  { account, directory }: DataDirectory,
  sockets: string,
  command: ReadonlyArray<string>
): Effect.fn.Return<Server, EmbeddedPostgresError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const subprocess = yield* Subprocess.spawn("/bin/sh", ["-c", guard, "waypost-guard", sockets, ...command], account, {
    // In a process group of its own, because Ctrl-C would stop the database before the requests in flight are answered.
    detached: true,
    stdio: ["pipe", "ignore", "pipe"]
  })
  const tail = yield* Ref.make<ReadonlyArray<string>>([])
  const drain = yield* NodeStream.fromReadable({ evaluate: () => subprocess.child.stderr! }).pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.runForEach((line) =>
      Effect.andThen(
        Ref.update(tail, (lines) => [...lines.slice(-19), line.slice(0, 500)]),
        Effect.logDebug(line)
      )
    ),
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() => stop(subprocess, directory))
  return { ...subprocess, tail, drain }
}, Effect.uninterruptible)

const lastWords = Effect.fnUntraced(function* ({ drain, exited, tail }: Server) {
  const status = yield* Deferred.await(exited)
  yield* Effect.timeoutOption(Fiber.await(drain), "1 second")
  return { status, lines: (yield* Ref.get(tail)).join("\n") }
})

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
  const server = yield* spawn(data, sockets, command)
  const died = Effect.gen(function* () {
    const { lines, status } = yield* lastWords(server)
    if (/lock file "[^"]+" already exists/.test(lines) || lines.includes("pre-existing shared memory block")) {
      return yield* new DirectoryInUse({ message: lines })
    }
    return yield* new EmbeddedPostgresError({
      message:
        `PostgreSQL could not be started on ${directory} and ended with ${status}. Its last words were:\n` + lines
    })
  })
  // Without a time limit, because recovery after a crash starts over when it is interrupted.
  const postmaster = yield* Effect.raceFirst(ready(directory, sockets, before), died)
  const ended = Effect.flatMap(lastWords(server), ({ lines, status }) =>
    Effect.logError(
      `PostgreSQL on ${directory} ended with ${status} while it was in use, and is started again; the database ` +
        `recovers by itself. Its last words were:\n${lines}`
    )
  )
  return { postmaster, ended }
})

/** Retries until it runs: the backends of a killed server need a moment to end, and a full disk needs the operator. */
const patience = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("5 seconds")])

/** Attempts before reporting that the data directory is locked: about four seconds. */
const manyTries = 7

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
  const tries = yield* Ref.make(0)
  const another = Effect.gen(function* () {
    yield* endUnguarded(data.directory, sockets)
    yield* SocketDirectory.again(sockets, data.account)
    return yield* begin(data, sockets, command)
  }).pipe(
    whole,
    Effect.tapError(
      Effect.fnUntraced(function* (error) {
        if (error._tag !== "DirectoryInUse")
          return yield* Effect.logError("PostgreSQL could not be started again", error)
        if ((yield* Ref.updateAndGet(tries, (count) => count + 1)) !== manyTries) return
        yield* Effect.logError(
          `PostgreSQL on ${data.directory} cannot be started again as long as another process uses that directory; ` +
            `it is tried on and on. The last answer was:\n${error.message}`
        )
      })
    )
  )
  return yield* Ref.set(tries, 0).pipe(
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
    const command = [binaries.postgres, ...parameters(data.directory, sockets, settings)]
    const { ended, postmaster } = yield* begin(data, sockets, command)
    yield* Effect.forkScoped(Effect.andThen(ended, keep(data, sockets, command)))
    return postmaster
  })
  return yield* whole(start)
})
