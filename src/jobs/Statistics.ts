import { Effect, Layer, Schedule } from "effect"
import { correct } from "../sql/Statistics.ts"
import { Sql } from "../sql/Sql.ts"

const quietly = Effect.flatMap(Sql, ({ pooled }) => correct(pooled)).pipe(
  Effect.catchCause((cause) => Effect.logWarning("Could not correct the statistics of PostgreSQL", cause))
)

/** Corrects what PostgreSQL expects of tables every few seconds while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(Effect.repeat(quietly, Schedule.jittered(Schedule.spaced("5 seconds"))))
)
