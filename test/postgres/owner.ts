import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"

// A process that starts the server, prints its parameters, and drains for a moment when it is stopped.
NodeRuntime.runMain(
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* EmbeddedPostgres.start({ dataDir: process.argv[2] ?? "" })
      yield* Effect.addFinalizer(() => Effect.sleep(Number(process.argv[3] ?? 0)))
      yield* Console.log(JSON.stringify(server))
      return yield* Effect.never
    })
  ).pipe(Effect.provide(NodeServices.layer))
)
