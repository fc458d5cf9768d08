import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Runtime } from "effect"
import * as EnvFile from "../settings/EnvFile.ts"
import { run } from "./Run.ts"

run(process.argv.slice(2), EnvFile.load).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    // Connections that are still open must not delay the exit.
    teardown: (exit) => {
      if (Exit.isSuccess(exit)) process.exit(Number(exit.value))
      Runtime.defaultTeardown(exit, (code) => process.exit(code))
    }
  })
)
