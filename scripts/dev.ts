import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import * as Database from "../src/cli/Database.ts"
import { Settings } from "../src/Config.ts"
import * as Startup from "../src/Startup.ts"
import { keptKey, serve } from "./service.ts"

// The service, restarted on every change of its sources. The database is held here, so that a restart is quick, and so
// is the key: it is made once and stays the same for as long as the data folder lives.
const dev = Effect.gen(function* () {
  const key = yield* keptKey("dev-key")
  return yield* serve({
    nodeOptions: ["--watch", "--watch-preserve-output"],
    onServing: () => Console.log(`API key for development: ${key}`)
  })
}).pipe(Effect.scoped, Effect.provide(Layer.merge(Database.keys, Settings.layer)))

dev.pipe(
  Effect.catchTag(["SettingsError", "EmbeddedPostgresError", "SqlError", "MigrationError"], (error) =>
    Effect.andThen(Console.error(Startup.explain(error)), Effect.succeed(1))
  ),
  Effect.map((code) => {
    process.exitCode = code
  }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    // A stop that was asked for is a success.
    teardown: (exit, onExit) => onExit(exit._tag === "Success" ? Number(process.exitCode ?? 0) : 0)
  })
)
