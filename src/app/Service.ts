import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Exit, Layer } from "effect"
import { Settings } from "../settings/Config.ts"
import * as InFlight from "../http/transport/InFlight.ts"
import * as Observability from "./Observability.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { Sql } from "../sql/Sql.ts"
import * as Server from "./Server.ts"
import * as Startup from "./Startup.ts"

/** What every process has: settings, logs and the machine. */
export const platform = Observability.layer.pipe(Layer.provideMerge(Layer.merge(Settings.layer, NodeServices.layer)))

/** A process that serves, on a database that has its tables. */
export const serving = InFlight.drainFirst.pipe(
  Layer.provideMerge(Server.layer),
  Layer.provideMerge(Server.services),
  Layer.provideMerge(PublicUrl.layer),
  Layer.provide(Server.listen),
  Layer.provide(InFlight.InFlight.layer),
  Layer.provide(Sql.layer)
)

/** Runs until it is told to stop; what keeps it from starting is told in a sentence. */
export const run = (program: Effect.Effect<void, Startup.StartError>): void =>
  program.pipe(
    // What keeps the service from starting is the operator's to mend: no stack trace.
    Effect.catch((error) =>
      Effect.sync(() => {
        process.stderr.write(`${Startup.explain(error)}\n`)
        process.exitCode = 1
      })
    ),
    NodeRuntime.runMain({
      // A stop that was asked for is a success, however many requests it had to wait for.
      teardown: (exit, onExit) =>
        onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? Number(process.exitCode ?? 0) : 1)
    })
  )
