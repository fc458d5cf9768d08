import { Effect, Layer, Schedule } from "effect"
import { correct } from "../sql/Statistics.ts"
import { Sql } from "../sql/Sql.ts"

/** Corrects what PostgreSQL expects of tables every few seconds while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.forkScoped(Effect.repeat(correct(pooled), Schedule.jittered(Schedule.spaced("5 seconds"))))
  )
)
