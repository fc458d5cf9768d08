import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { Settings } from "../settings/Config.ts"
import * as EnvFile from "../settings/EnvFile.ts"
import * as InFlight from "../http/transport/InFlight.ts"
import * as Observability from "./Observability.ts"
import * as ListeningUrl from "./ListeningUrl.ts"
import { Sql } from "../sql/Sql.ts"
import * as Services from "./layers/Services.ts"
import * as Server from "./Server.ts"
import * as StandardOutput from "./StandardOutput.ts"
import * as Startup from "./Startup.ts"

/** Settings, logs and the services of Node, which every process needs. */
export const platform = Observability.layer.pipe(Layer.provideMerge(Layer.merge(Settings.layer, NodeServices.layer)))

/** The HTTP service, on a migrated database. */
export const serving = InFlight.drainFirst.pipe(
  Layer.provideMerge(Server.layer),
  Layer.provideMerge(Services.layer),
  Layer.provideMerge(ListeningUrl.layer),
  Layer.provide(Server.listen),
  Layer.provide(InFlight.InFlight.layer),
  Layer.provide(Sql.layer)
)

/** Runs until SIGTERM or SIGINT; a start-up failure is printed as one sentence. */
export const run = (program: Effect.Effect<void, Startup.StartError>): void =>
  EnvFile.load.pipe(
    Effect.andThen(program),
    // Start-up failures are operator errors: print no stack trace.
    Effect.catch((error) =>
      Effect.sync(() => {
        process.stderr.write(`${Startup.startErrorMessage(error)}\n`)
        process.exitCode = 1
      })
    ),
    NodeRuntime.runMain({ teardown: StandardOutput.teardown })
  )
