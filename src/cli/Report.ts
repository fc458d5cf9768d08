import { Cause, Console, Effect, PlatformError, Predicate } from "effect"
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

/** Prints a failure and returns its exit code. */
export const report = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  const error = Cause.squash(cause)
  if (isClosedPipe(error)) return 0
  yield* Console.error(isStartError(error) ? Startup.startErrorMessage(error) : Failures.describe(error))
  yield* Effect.logDebug("The command failed", cause)
  return error instanceof Failures.CommandError ? (error.exitCode ?? 1) : 1
})
