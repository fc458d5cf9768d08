import { Console, Effect } from "effect"
import { keptKey, runMain, serve } from "./service.ts"

// Runs the service and restarts it on every change of its sources. This process keeps the database running, so that
// a restart is quick. The key is made once and stays valid as long as the data folder exists.
runMain(
  Effect.gen(function* () {
    const key = yield* keptKey("dev-key")
    return yield* serve({
      isWatched: true,
      onServing: () => Console.log(`API key for development: ${key}`)
    })
  })
)
