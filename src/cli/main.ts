import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Runtime } from "effect"
import { run } from "./Run.ts"

run(process.argv.slice(2)).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    // A command is over when it is done, whatever a connection that is still open thinks.
    teardown: (exit) => {
      if (Exit.isSuccess(exit)) process.exit(exit.value as number)
      Runtime.defaultTeardown(exit, (code) => process.exit(code))
    }
  })
)
