import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import { Settings } from "./settings/Config.ts"
import * as Service from "./app/Service.ts"
import * as Startup from "./app/Startup.ts"
import * as Stop from "./app/Stop.ts"
import * as Workers from "./app/Workers.ts"

const alone = Startup.announce.pipe(Layer.provide(Service.serving))

const onDatabase = Layer.provide(Layer.provideMerge(Startup.migrations, Startup.database))

/** This process serves by itself, or sees to it that `WORKERS` others do. */
const program = Effect.gen(function* () {
  const { WORKERS } = yield* Settings
  return yield* WORKERS === 1
    ? Layer.launch(onDatabase(alone)).pipe(Stop.within(Stop.servingSeconds))
    : Layer.launch(onDatabase(Workers.layer)).pipe(Stop.within(Stop.supervisingSeconds))
})

Service.run(Effect.provide(program, Service.platform))
