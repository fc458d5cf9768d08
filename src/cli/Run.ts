import { Cause, Console, Effect, Layer, Logger, PlatformError, Predicate, References } from "effect"
import { CliError, Command } from "effect/cli"
import { version } from "../settings/Version.ts"
import { waypost } from "./Commands.ts"
import * as Startup from "../app/Startup.ts"
import * as Failures from "./Failures.ts"

/** The reader of a pipe, such as `head`, has closed it: no failure. */
const isClosedPipe = (error: unknown) =>
  PlatformError.isPlatformError(error) &&
  Predicate.isObject(error.reason.cause) &&
  error.reason.cause["code"] === "EPIPE"

/** Errors of the database and the settings are printed as the service prints them. */
const isStartError = (error: unknown): error is Parameters<typeof Startup.startErrorMessage>[0] =>
  ["EmbeddedPostgresError", "MigrationError", "SettingsError", "SqlError", "StorageUnavailableError"].some((tag) =>
    Predicate.isTagged(error, tag)
  )

/** Prints a failure and returns its exit code; usage errors are printed by the command line itself. */
const report = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  const error = Cause.squash(cause)
  if (isClosedPipe(error)) return 0
  if (CliError.isCliError(error) && error._tag === "ShowHelp") return error.errors.length > 0 ? 1 : 0
  yield* Console.error(isStartError(error) ? Startup.startErrorMessage(error) : Failures.describe(error))
  yield* Effect.logDebug("The command failed", cause)
  return 1
})

/** Logs go to standard error, so that they never mix with output. */
const logging = Layer.mergeAll(
  Logger.layer([Logger.consolePretty()]),
  Layer.succeed(References.LogToStderr, true),
  Layer.succeed(References.MinimumLogLevel, "Warn")
)

/** Runs the command line and returns its exit code. */
export const run = (args: ReadonlyArray<string>) =>
  Command.runWith(waypost, { version: version() })(args).pipe(
    Effect.as(0),
    Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : report(cause))),
    Effect.provide(logging)
  )
