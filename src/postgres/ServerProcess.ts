import * as NodeStream from "@effect/platform-node/NodeStream"
import { Deferred, Effect, Fiber, type FileSystem, Option, type Path, Ref, type Scope, Stream } from "effect"
import type { DataDirectory } from "./DataDirectory.ts"
import type { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import * as Postmaster from "./Postmaster.ts"
import * as Subprocess from "./Subprocess.ts"

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

/** The arguments of a private server in the directory, with these settings. */
export const parameters = (directory: string, sockets: string, settings: Readonly<Record<string, string>>) => [
  "-D",
  directory,
  "-k",
  sockets,
  "-p",
  String(Postmaster.port),
  ...Object.entries({
    max_connections: String(defaultConnections),
    shared_buffers: "128MB",
    // Bulk writes fill the 4 MB of the default while another process writes them to the disk.
    wal_buffers: "32MB",
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
      `PostgreSQL on ${directory} did not stop within 20 seconds and is killed; the database recovers by ` +
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

/** A server with the last lines of its output. */
export interface ServerProcess extends Subprocess.Subprocess {
  readonly tail: Ref.Ref<ReadonlyArray<string>>
  readonly drain: Fiber.Fiber<void, unknown>
}

/**
 * Starts a server that ends with the scope, or with this process. A full pipe without a reader blocks PostgreSQL, so reading begins
 * with the process and continues until the last line of the shutdown.
 */
export const spawn = Effect.fnUntraced(function* (
  { account, directory }: DataDirectory,
  sockets: string,
  command: ReadonlyArray<string>
): Effect.fn.Return<ServerProcess, EmbeddedPostgresError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
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

/** Waits until the server ends; returns its exit status and the last lines of its output. */
export const awaitExit = Effect.fnUntraced(function* ({ drain, exited, tail }: ServerProcess) {
  const status = yield* Deferred.await(exited)
  yield* Effect.timeoutOption(Fiber.await(drain), "1 second")
  return { status, lines: (yield* Ref.get(tail)).join("\n") }
})
