import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import { misspelt, Settings } from "./settings/Config.ts"
import * as Service from "./app/Service.ts"
import * as Startup from "./app/Startup.ts"
import * as Stop from "./app/Stop.ts"
import * as Workers from "./app/Workers.ts"

const service = Startup.announce.pipe(Layer.provide(Service.serving))

const database = Layer.provideMerge(Startup.migrations, Startup.database)

/** Runs on the migrated database until that ends. */
const launch = <E, R>(layer: Layer.Layer<never, E, R>) =>
  Effect.raceFirst(Layer.launch(layer), Startup.databaseEnded).pipe(Effect.provide(database))

/** Serves in this process, or supervises `WORKERS` processes that serve. */
const program = Effect.gen(function* () {
  const { WORKERS } = yield* Settings
  yield* Effect.forEach(yield* misspelt, (line) => Effect.logWarning(line))
  return yield* WORKERS === 1
    ? launch(service).pipe(Stop.withStopTimeout(Stop.servingSeconds))
    : launch(Workers.layer).pipe(Stop.withStopTimeout(Stop.supervisingSeconds))
})

Service.run(Effect.provide(program, Service.platform))
