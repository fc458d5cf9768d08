import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import * as Service from "./app/Service.ts"
import * as Stop from "./app/Stop.ts"
import * as Workers from "./app/Workers.ts"

// One of several serving processes, started by the supervisor on a running, migrated database.
const service = Workers.ready.pipe(Layer.provide(Service.serving), Layer.provide(Workers.database))

Service.run(
  Effect.raceFirst(Layer.launch(service), Workers.supervisorEnded).pipe(
    Stop.withStopTimeout(Stop.servingSeconds),
    Effect.provide(Service.platform)
  )
)
