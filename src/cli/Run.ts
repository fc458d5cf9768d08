import { Cause, Console, Effect, Layer, Logger, PlatformError, Predicate, References } from "effect"
import { CliError, Command } from "effect/cli"
import { version } from "../settings/Version.ts"
import { waypost } from "./Commands.ts"
import * as Startup from "../app/Startup.ts"
import * as Failures from "./Failures.ts"

/** A reader such as `head` that has seen enough is no failure. */
const isClosedPipe = (error: unknown) =>
  PlatformError.isPlatformError(error) &&
  Predicate.isObject(error.reason.cause) &&
  error.reason.cause["code"] === "EPIPE"

/** What keeps the database from being used is told as the service tells it. */
const isStartError = (error: unknown): error is Parameters<typeof Startup.startErrorMessage>[0] =>
  ["EmbeddedPostgresError", "MigrationError", "SettingsError", "SqlError", "StorageUnavailableError"].some((tag) =>
    Predicate.isTagged(error, tag)
  )

/** The exit code of a failure, which is told in a line; the command line has told of its own already. */
const report = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  const error = Cause.squash(cause)
  if (isClosedPipe(error)) return 0
  if (CliError.isCliError(error) && error._tag === "ShowHelp") return error.errors.length > 0 ? 1 : 0
  yield* Console.error(isStartError(error) ? Startup.startErrorMessage(error) : Failures.describe(error))
  yield* Effect.logDebug("The command failed", cause)
  return 1
})

/** What is logged on the way goes to standard error, so that it never mixes with output; only warnings by default. */
const logging = Layer.mergeAll(
  Logger.layer([Logger.consolePretty()]),
  Layer.succeed(References.LogToStderr, true),
  Layer.succeed(References.MinimumLogLevel, "Warn")
)

/** Runs the command line with these arguments; the result is the exit code. */
export const run = (args: ReadonlyArray<string>) =>
  Command.runWith(waypost, { version: version() })(args).pipe(
    Effect.as(0),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause as Cause.Cause<never>) : report(cause)
    ),
    Effect.provide(logging)
  )
