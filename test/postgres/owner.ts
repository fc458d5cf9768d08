import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { once } from "node:events"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"

// A process that starts the server and prints its parameters. With a second argument it drains until SIGUSR2 when it is
// stopped.
const drained: Promise<unknown> = process.argv[3] === undefined ? Promise.resolve() : once(process, "SIGUSR2")

NodeRuntime.runMain(
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* EmbeddedPostgres.start({ dataDir: process.argv[2] ?? "" })
      yield* Effect.addFinalizer(() => Effect.promise(() => drained))
      yield* Console.log(JSON.stringify(server))
      return yield* Effect.never
    })
  ).pipe(Effect.provide(NodeServices.layer))
)
