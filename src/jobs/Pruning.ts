import { Effect, Layer, Schedule } from "effect"
import { Settings } from "../settings/Config.ts"
import { Sql } from "../sql/Sql.ts"

/** Events per statement, so that sealing does not wait long. */
const batch = 1000

/** Removes the events that are older than `HISTORY_DAYS`, oldest first. Several processes may run this concurrently. */
export const prune = Effect.gen(function* () {
  const { HISTORY_DAYS: days } = yield* Settings
  if (days === 0) return
  const { pooled } = yield* Sql
  const pruned = pooled<{ readonly events: number }>`
    select waypost_prune(now() - make_interval(days => ${days}::int), ${batch}::int) as events`
  yield* Effect.repeat(pruned, { until: ([row]) => row!.events < batch, schedule: Schedule.spaced("20 millis") })
})

const quietly = Effect.catchCause(prune, (cause) => Effect.logWarning("Could not prune the change log", cause))

/** Prunes every hour while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(Effect.repeat(quietly, Schedule.jittered(Schedule.spaced("1 hour"))))
)
