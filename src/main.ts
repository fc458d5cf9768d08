import "effect/schema/SchemaJITCompiler/enable"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer } from "effect"
import { Settings } from "./Config.ts"
import * as Traffic from "./http/Traffic.ts"
import * as Observability from "./Observability.ts"
import { PublicUrl } from "./PublicUrl.ts"
import { Sql } from "./repositories/Sql.ts"
import * as Server from "./Server.ts"
import * as Startup from "./Startup.ts"

const infrastructure = Layer.provideMerge(Sql.layer, Startup.migrations).pipe(
  Layer.provide(Startup.database),
  Layer.provideMerge(Observability.layer),
  Layer.provideMerge(Layer.merge(Settings.layer, NodeServices.layer))
)

const service = Layer.merge(Startup.announce, Traffic.drainFirst).pipe(
  Layer.provideMerge(Server.layer),
  Layer.provide(Server.services),
  Layer.provideMerge(PublicUrl.layer),
  Layer.provide(Server.listen),
  Layer.provide(Traffic.Traffic.layer),
  Layer.provide(infrastructure)
)

Layer.launch(service).pipe(
  // What keeps the service from starting is the operator's to mend: a sentence, and no stack trace.
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
