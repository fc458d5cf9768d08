import { Console, Effect } from "effect"
import { keptKey, runMain, serve } from "./service.ts"

// The service, restarted on every change of its sources. The database is held here, so that a restart is quick, and so
// is the key: it is made once and stays the same for as long as the data folder lives.
runMain(
  Effect.gen(function* () {
    const key = yield* keptKey("dev-key")
    return yield* serve({
      nodeOptions: ["--watch", "--watch-preserve-output"],
      onServing: () => Console.log(`API key for development: ${key}`)
    })
  })
)
