import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Layer } from "effect"
import { Settings } from "./Config.ts"
import * as Service from "./Service.ts"
import * as Startup from "./Startup.ts"
import * as Workers from "./Workers.ts"

const alone = Startup.announce.pipe(Layer.provide(Service.serving))

/** This process serves by itself, or sees to it that `WORKERS` others do. */
const service = Layer.effectDiscard(
  Effect.gen(function* () {
    const { WORKERS } = yield* Settings
    if (WORKERS === 1) yield* Layer.build(alone)
    else yield* Layer.build(Workers.layer)
  })
).pipe(Layer.provide(Startup.migrations), Layer.provideMerge(Startup.database), Layer.provide(Service.platform))

Service.run(Layer.launch(service))
