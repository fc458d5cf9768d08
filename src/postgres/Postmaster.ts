import { Effect, FileSystem, Number, Option, Path, Predicate, Result } from "effect"
import * as Net from "node:net"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import * as Subprocess from "./Subprocess.ts"

/** What the `postmaster.pid` of a data directory says about the server that runs, or ran, on it. */
export interface Postmaster {
  readonly pid: number
  readonly socketDirectory: string
  readonly socket: string
  readonly ready: boolean
  /** The whole file, to recognise that it was replaced. */
  readonly content: string
}

// The port only names the socket; every server has a socket directory of its own.
export const port = 5432

const fileOf = (directory: string) => Effect.map(Path.Path, (path) => path.join(directory, "postmaster.pid"))

/** None when there is no such file. A file that names no process yet, or never will, has the pid 0. */
export const read = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const content = yield* fs.readFileString(yield* fileOf(directory)).pipe(
    Effect.asSome,
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone)
  )
  return Option.map(content, (content): Postmaster => {
    const [pid = "", , , filePort = "", socketDirectory = "", , , state = ""] = content.split("\n")
    return {
      // A single-user backend writes its pid with a minus sign.
      pid: Math.abs(Option.getOrElse(Number.parse(pid), () => 0)),
      socketDirectory,
      socket: `${socketDirectory}/.s.PGSQL.${filePort}`,
      ready: state.trim() === "ready",
      content
    }
  })
})

/** False if the process does not exist. Signal 0 only checks. The pid 0 would mean the own process group. */
export const signal = (pid: number, name: NodeJS.Signals | 0) =>
  pid === 0
    ? Effect.succeed(false)
    : Effect.sync(() =>
        Result.match(
          Result.try(() => process.kill(pid, name)),
          {
            onSuccess: () => true,
            onFailure: (error) => Predicate.hasProperty(error, "code") && error.code === "EPERM"
          }
        )
      )

const connects = (socket: string) =>
  Effect.callback<boolean>((resume) => {
    const connection = Net.connect(socket)
    connection.once("connect", () => {
      // The callback's clean-up runs on interruption only, and an open connection would keep the process alive.
      connection.destroy()
      resume(Effect.succeed(true))
    })
    connection.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => connection.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.succeed(false) }))

const commandLine = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(`/proc/${pid}/cmdline`).pipe(
    Effect.map((line) => line.replaceAll("\0", " ")),
    // Without /proc, as on macOS, ps is the source.
    Effect.catchTag("PlatformError", () =>
      Effect.map(Subprocess.run("ps", ["-ww", "-o", "args=", "-p", String(pid)]), ({ stdout }) => `${stdout.trim()} `)
    )
  )
})

/**
 * Whether the process is a PostgreSQL server on this directory. After a crash, or in a restarted container, the pid of
 * the file may have gone to a process that has nothing to do with it, another PostgreSQL server included.
 */
export const serves = Effect.fnUntraced(function* ({ pid }: Postmaster, directory: string) {
  if (!(yield* signal(pid, 0))) return false
  const line = yield* commandLine(pid)
  return /^\S*\bpostgres /.test(line) && line.includes(` -D ${directory} `)
})

/**
 * Another process may be replacing the same stale file by the one of its own, fresh server. So the file is taken
 * aside in one step, and put back if it is not the file that was checked.
 */
const removeStale = Effect.fnUntraced(function* (stale: Postmaster, directory: string) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fileOf(directory)
  const aside = `${file}.stale-${process.pid}`
  yield* fs.rename(file, aside).pipe(
    Effect.andThen(fs.readFileString(aside)),
    Effect.flatMap((content) => (content === stale.content ? Effect.void : Effect.ignore(fs.link(aside, file)))),
    Effect.andThen(fs.remove(aside)),
    Effect.catchReason("PlatformError", "NotFound", () => Effect.void)
  )
})

/**
 * The server that runs on the directory, waiting for one that is starting or stopping. None means that the way is free.
 * A file of a dead process is left to PostgreSQL, which also checks that no orphaned backend still writes.
 */
export const settled = Effect.fnUntraced(
  function* (directory: string) {
    while (true) {
      const found = yield* read(directory)
      if (Option.isNone(found)) return found
      const postmaster = found.value
      const alive = postmaster.pid === 0 || (yield* signal(postmaster.pid, 0))
      if (!alive) return Option.none<Postmaster>()
      if (postmaster.ready && (yield* connects(postmaster.socket))) return found
      if (postmaster.pid === 0) {
        // The file is created first and written a moment later. Only one that stays empty is the remains of a crash.
        yield* Effect.sleep("1 second")
        const again = yield* read(directory)
        if (Option.isNone(again) || again.value.pid !== 0) continue
      }
      if (!(yield* serves(postmaster, directory))) {
        yield* removeStale(postmaster, directory)
        return Option.none<Postmaster>()
      }
      yield* Effect.sleep("50 millis")
    }
  },
  (effect, directory) =>
    Effect.timeoutOrElse(effect, {
      duration: "1 minute",
      orElse: () =>
        new EmbeddedPostgresError({
          message:
            `Another process has been starting or stopping PostgreSQL in ${directory} for a minute. Wait until ` +
            `it is done; if it never is, end the process named in the first line of ${directory}/postmaster.pid with ` +
            "SIGINT and start again."
        })
    })
)
