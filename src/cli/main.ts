import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Runtime } from "effect"
import * as StandardOutput from "../app/StandardOutput.ts"
import * as EnvFile from "../settings/EnvFile.ts"
import { run } from "./Run.ts"

/** The first error of standard output, which `Console.log` ignores. */
let failure: NodeJS.ErrnoException | undefined
process.stdout.on("error", (error) => {
  failure ??= error
})

/** Exits when all output is written; with 1 if it cannot be. A reader that has closed the pipe, such as `head`, is no failure. */
const exit = async (code: number) => {
  await StandardOutput.written()
  if (code !== 0 || failure === undefined || failure.code === "EPIPE") process.exit(code)
  process.stderr.write(`Cannot write the output: ${failure.message}\n`, () => process.exit(1))
}

run(process.argv.slice(2), EnvFile.load).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    // Connections that are still open must not delay the exit.
    teardown: (ended) => {
      if (Exit.isSuccess(ended)) void exit(Number(ended.value))
      else Runtime.defaultTeardown(ended, (code) => void StandardOutput.writtenInTime().then(() => process.exit(code)))
    }
  })
)
