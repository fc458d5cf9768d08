import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import * as Service from "./app/Service.ts"
import * as Stop from "./app/Stop.ts"
import * as Workers from "./app/Workers.ts"

// One of several processes that serve, started by `Workers`; the database has its tables, and runs.
const service = Workers.ready.pipe(Layer.provide(Service.serving), Layer.provide(Workers.database))

Service.run(
  Effect.raceFirst(Layer.launch(service), Workers.abandoned).pipe(
    Stop.within(Stop.servingSeconds),
    Effect.provide(Service.platform)
  )
)
