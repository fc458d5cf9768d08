import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { run } from "../src/cli/Run.ts"

// Writes openapi.json; with --check it only says whether the committed file is the one the definition gives.
run(["openapi", ...process.argv.slice(2)]).pipe(
  Effect.map((code) => {
    process.exitCode = code
  }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
