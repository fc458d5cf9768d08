import { Effect, Layer, Schedule } from "effect"
import { correct } from "../sql/Statistics.ts"
import { Sql } from "../sql/Sql.ts"
import { begunLater } from "./Repeated.ts"

const pause = "5 seconds"

/** Corrects what PostgreSQL expects of tables every few seconds while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.forkScoped(begunLater(pause, Effect.repeat(correct(pooled), Schedule.jittered(Schedule.spaced(pause)))))
  )
)
