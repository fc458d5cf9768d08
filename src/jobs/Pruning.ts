import { Effect, Layer, Schedule } from "effect"
import { IdempotentAnswers } from "../repositories/idempotency/IdempotentAnswers.ts"
import { Plans } from "../repositories/plans/Plans.ts"
import { Settings } from "../settings/Config.ts"
import { sql } from "../sql/Fragment.ts"
import { makeSteps, removeInParts } from "../sql/Parts.ts"
import { Sql } from "../sql/Sql.ts"
import { repeatedly } from "./Repeated.ts"

/** Events per statement at most, so that sealing does not wait long. */
const batch = 1000

/**
 * Between two statements. A process that seals tries to about every 100 ms, so at least once in it unless another process prunes as
 * well.
 */
const pause = "200 millis"

/**
 * Removes the events that are older than `HISTORY_DAYS`, oldest first, and the facts of files that were deleted before. Several
 * processes may run this concurrently.
 */
export const prune = Effect.gen(function* () {
  const { HISTORY_DAYS: days } = yield* Settings
  if (days === 0) return
  const { pooled } = yield* Sql
  const runStep = yield* makeSteps(batch)
  const before = sql`now() - make_interval(days => ${days}::int)`
  const pruneSome = (size: number) =>
    Effect.map(
      pooled<{ readonly events: number; readonly hasOld: boolean }>`
        select waypost_prune(${before}, ${size}::int) as events, waypost_position_at(${before}) > pruned_position as "hasOld"
        from event_log`,
      // While another process seals or prunes, nothing is removed.
      ([row]) => (row!.events === 0 ? row!.hasOld : row!.events === size)
    )
  yield* Effect.repeat(runStep(pruneSome), { while: (hasMore) => hasMore, schedule: Schedule.spaced(pause) })
  yield* removeInParts(
    (limit) => pooled`
      delete from past_files where ctid in (
        select ctid from past_files where deleted_at < now() - make_interval(days => ${days}::int) limit ${limit}::int
      ) returning true`
  )
})

const removeAnswers = Effect.flatMap(IdempotentAnswers, ({ removeExpired }) => removeExpired)

const prunePlans = Effect.flatMap(Plans, ({ prune }) => prune)

/** Prunes every hour while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.all([
    repeatedly("Could not prune the change log", "1 hour", prune),
    repeatedly("Could not prune the answers that are kept for repeated requests", "1 hour", removeAnswers),
    repeatedly("Could not prune the plans", "1 hour", prunePlans)
  ])
)
