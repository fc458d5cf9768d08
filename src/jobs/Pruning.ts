import { Effect, Layer, Schedule } from "effect"
import { IdempotentAnswers } from "../repositories/idempotency/IdempotentAnswers.ts"
import { Plans } from "../repositories/plans/Plans.ts"
import { Settings } from "../settings/Config.ts"
import { removeInParts } from "../sql/Parts.ts"
import { Sql } from "../sql/Sql.ts"
import { repeatedly } from "./Repeated.ts"

/** Events per statement, so that sealing does not wait long. */
const batch = 1000

/**
 * Removes the events that are older than `HISTORY_DAYS`, oldest first, and the facts of files that were deleted before. Several
 * processes may run this concurrently.
 */
export const prune = Effect.gen(function* () {
  const { HISTORY_DAYS: days } = yield* Settings
  if (days === 0) return
  const { pooled } = yield* Sql
  const pruned = pooled<{ readonly events: number }>`
    select waypost_prune(now() - make_interval(days => ${days}::int), ${batch}::int) as events`
  yield* Effect.repeat(pruned, { until: ([row]) => row!.events < batch, schedule: Schedule.spaced("20 millis") })
  yield* removeInParts(
    (limit) => pooled`
      delete from past_files where ctid in (
        select ctid from past_files where deleted_at < now() - make_interval(days => ${days}::int) limit ${limit}::int
      ) returning true`
  )
})

const removeAnswers = Effect.flatMap(IdempotentAnswers, ({ removeExpired }) => removeExpired)

const removePlans = Effect.flatMap(Plans, ({ removeExpired }) => removeExpired)

/** Prunes every hour while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.all([
    repeatedly("Could not prune the change log", "1 hour", prune),
    repeatedly("Could not prune the answers that are kept for repeated requests", "1 hour", removeAnswers),
    repeatedly("Could not prune the plans that have expired", "1 hour", removePlans)
  ])
)
