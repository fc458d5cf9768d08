import { Cause, Effect, Layer, Logger, References } from "effect"
import { CliError, CliOutput, Command, type HelpDoc, TerminalCapabilities } from "effect/cli"
import { version } from "../settings/Version.ts"
import { commandFor } from "./Commands.ts"

/** Logs go to standard error, so that they never mix with output. */
const logging = Layer.mergeAll(
  Logger.layer([Logger.consolePretty()]),
  Layer.succeed(References.LogToStderr, true),
  Layer.succeed(References.MinimumLogLevel, "Warn")
)

/** A flag with many values names them in its description only: their list is wider than every other column. */
const maxType = 12

/** Help without the flags that every command has; that of the whole command line shows them. */
const help = Layer.effect(
  CliOutput.Formatter,
  Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) => {
    const formatter = CliOutput.defaultFormatter({ colors: canColor, globalFlags: "summary" })
    const narrow = (flag: HelpDoc.FlagDoc) => (flag.type.length > maxType ? { ...flag, type: "value" } : flag)
    return CliOutput.Formatter.of({
      formatHelpDoc: (doc) => formatter.formatHelpDoc({ ...doc, globalFlags: (doc.globalFlags ?? []).map(narrow) }),
      formatCliError: formatter.formatCliError,
      formatError: formatter.formatError,
      formatErrors: formatter.formatErrors,
      formatVersion: formatter.formatVersion
    })
  })
)

/** What has gone wrong, loaded only then: it knows the errors of every command. */
const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  if (CliError.isCliError(error) && error._tag === "ShowHelp") return Effect.succeed(error.errors.length > 0 ? 1 : 0)
  return Effect.flatMap(
    Effect.promise(() => import("./Report.ts")),
    ({ report }) => report(cause)
  )
}

/** Runs the command line, after `before`, and returns its exit code. */
export const run = (args: ReadonlyArray<string>, before: Effect.Effect<void, unknown> = Effect.void) =>
  Effect.andThen(before, commandFor(args)).pipe(
    Effect.flatMap((command) => Command.runWith(command, { version: version() })(args)),
    Effect.as(0),
    Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : report(cause))),
    Effect.provide([logging, help])
  )
