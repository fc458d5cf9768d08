import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, LogLevel, Option, Path, type Scope, Stream } from "effect"
import { ChildProcess } from "effect/process"
import * as Database from "../src/cli/Database.ts"
import { Settings } from "../src/settings/Config.ts"
import { installed } from "../src/settings/Installation.ts"
import * as EnvFile from "../src/settings/EnvFile.ts"
import * as Permission from "../src/domain/keys/Permission.ts"
import { ApiKeys } from "../src/services/ApiKeys.ts"
import * as DataFolder from "../src/app/DataFolder.ts"
import * as StandardOutput from "../src/app/StandardOutput.ts"
import * as Startup from "../src/app/Startup.ts"

/** What Node runs; only sources are worth watching. */
const program = (isWatched: boolean) =>
  isWatched ? ["--watch", "--watch-preserve-output", installed("src/main.ts")] : [installed("bin/service.mjs")]

/** A key with every permission, stored in a file of the data folder; a new one when the database does not accept it. */
export const keptKey = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const keys = yield* ApiKeys
  // Before a key is created: it would be lost if the folder cannot be used.
  const file = path.join(yield* DataFolder.make, name)
  const kept = yield* Effect.option(fs.readFileString(file))
  if (Option.isSome(kept) && Option.isSome(yield* Effect.option(keys.authenticate(kept.value.trim())))) {
    return kept.value.trim()
  }
  const { key } = yield* keys.createUnchecked({ name, permissions: Permission.all })
  yield* Effect.ignore(fs.remove(file))
  yield* fs.writeFileString(file, `${key}\n`, { mode: 0o600 })
  return key
})

/** The level of a JSON log line. */
const levelOf = (line: string) => {
  const name = /"level":"([A-Z]+)"/.exec(line)?.[1]?.toLowerCase()
  return LogLevel.values.find((level) => level.toLowerCase() === name)
}

/**
 * Runs the service as a separate process until the scope closes, and prints its output. Each time the service reports its
 * URL, `onServing` runs concurrently with the reading of the output, because a full pipe would block the process. Returns
 * the exit code.
 */
export const serve = <E, R>(options: {
  /** Restarts it on every change of its sources. */
  readonly isWatched?: boolean
  /** Prints only warnings and errors. */
  readonly quiet?: boolean
  readonly onServing: (url: string) => Effect.Effect<void, E, R>
}) =>
  Effect.gen(function* () {
    const { isWatched = false } = options
    const { LOG_LEVEL } = yield* Settings
    const isAboveInfo = LogLevel.isGreaterThan(LOG_LEVEL, "Info")
    const quiet = isAboveInfo || options.quiet === true
    const least = isAboveInfo ? LOG_LEVEL : "Warn"
    // The service logs its URL at the level info, as JSON; lines below the level that is wanted are not printed.
    const isPrinted = (line: string) => {
      const level = quiet ? levelOf(line) : undefined
      return level === undefined || LogLevel.isGreaterThanOrEqualTo(level, least)
    }
    const pretty = !quiet && process.stdout.isTTY && (process.env["LOG_FORMAT"] ?? "auto") === "auto"
    const child = yield* ChildProcess.make(process.execPath, program(isWatched), {
      extendEnv: true,
      env: {
        ...(isAboveInfo ? { LOG_LEVEL: "info" } : {}),
        ...(pretty ? { LOG_FORMAT: "pretty" } : quiet ? { LOG_FORMAT: "json" } : {})
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
      forceKillAfter: "30 seconds"
    })
    yield* child.stdout.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.runForEach((line) => {
        const url = /Waypost serves (https?:\/\/[\w.:[\]-]+)/.exec(line)?.[1]
        return Effect.andThen(
          isPrinted(line) ? Console.log(line) : Effect.void,
          url === undefined ? Effect.void : Effect.forkScoped(options.onServing(url))
        )
      }),
      Effect.forkScoped
    )
    return yield* child.exitCode
  })

/**
 * Runs a script around a service and sets the exit code; an interruption counts as success. A terminal that closes stops it as well,
 * or the service, which is not among the processes of the terminal, would go on.
 */
export const runMain = <E extends Startup.StartError>(
  script: Effect.Effect<number, E, Settings | ApiKeys | NodeServices.NodeServices | Scope.Scope>
) => {
  process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"))
  Effect.andThen(
    EnvFile.load,
    script.pipe(Effect.scoped, Effect.provide(Layer.merge(Database.keys, Settings.layer)))
  ).pipe(
    Effect.catch((error: Startup.StartError) =>
      Effect.andThen(Console.error(Startup.startErrorMessage(error)), Effect.succeed(1))
    ),
    Effect.map((code) => {
      process.exitCode = code
    }),
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain({ teardown: StandardOutput.teardown })
  )
}
