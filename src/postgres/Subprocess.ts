import { Deferred, Effect, Option } from "effect"
import * as NodeChildProcess from "node:child_process"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"

/** A user of the operating system. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

export interface Subprocess {
  readonly child: NodeChildProcess.ChildProcess
  /** The exit status, or the name of the signal or system error that ended the process or kept it from starting. */
  readonly exited: Deferred.Deferred<number | string>
}

// The environment is not passed on, so that a stray PGDATA or LC_ALL does not change the server. With
// LC_ALL=C the messages are English, which the recognition of two of them relies on.
const environment = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" }

// The listeners are added in the same tick, because an early error event without a listener would end this process.
const watched = (child: NodeChildProcess.ChildProcess): Subprocess => {
  const exited = Deferred.makeUnsafe<number | string>()
  child.once("error", (error: NodeJS.ErrnoException) => {
    Deferred.doneUnsafe(exited, Effect.succeed(error.code ?? error.message))
  })
  child.once("exit", (code, signal) => {
    Deferred.doneUnsafe(exited, Effect.succeed(code ?? signal ?? "unknown"))
  })
  return { child, exited }
}

/**
 * Node's own spawn, because Effect's ChildProcess can neither change the user nor leave a child to end by itself: it
 * sends SIGTERM to the group, which asks PostgreSQL to wait for its last client.
 */
export const spawn = (
  command: string,
  parameters: ReadonlyArray<string>,
  account: Option.Option<Account>,
  options: { readonly detached: boolean; readonly stdio: NodeChildProcess.StdioOptions }
): Effect.Effect<Subprocess, EmbeddedPostgresError> =>
  Effect.try({
    try: () =>
      watched(
        NodeChildProcess.spawn(command, parameters, {
          ...options,
          ...Option.match(account, { onNone: () => ({}), onSome: ({ gid, uid }) => ({ uid, gid }) }),
          // The account may not have access to the working directory.
          cwd: "/",
          env: environment
        })
      ),
    catch: (cause) => {
      const user = Option.match(account, { onNone: () => "", onSome: ({ name }) => ` as the user "${name}"` })
      return new EmbeddedPostgresError({
        message:
          `${command} could not be started${user}: ${cause instanceof Error ? cause.message : String(cause)}. ` +
          "Start the service as an ordinary user, or set DATABASE_URL to a PostgreSQL server."
      })
    }
  })

const text = (stream: NodeJS.ReadableStream | null) =>
  Effect.callback<string>((resume) => {
    let content = ""
    stream?.setEncoding("utf8")
    stream?.on("data", (chunk: string) => {
      content += chunk
    })
    stream?.once("close", () => resume(Effect.succeed(content)))
    if (stream === null) resume(Effect.succeed(content))
  })

/** Runs a short command to its end. Interruption ends the command and waits until it has ended. */
export const run = (command: string, parameters: ReadonlyArray<string>, account = Option.none<Account>()) =>
  Effect.acquireUseRelease(
    spawn(command, parameters, account, { detached: false, stdio: ["ignore", "pipe", "pipe"] }),
    ({ child, exited }) =>
      Effect.all(
        { status: Deferred.await(exited), stdout: text(child.stdout), stderr: text(child.stderr) },
        {
          concurrency: "unbounded"
        }
      ),
    ({ child, exited }) =>
      Effect.andThen(
        Effect.sync(() => child.kill()),
        Deferred.await(exited)
      )
  )
