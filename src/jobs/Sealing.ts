import { Effect, Layer, Schedule } from "effect"
import { Sql } from "../sql/Sql.ts"

/** Events per statement, so that none runs long. */
const batch = 5000

/**
 * Gives positions in the log to the changes that were committed. Any number of processes may run this concurrently: one
 * seals, the others do nothing meanwhile.
 */
export const seal = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const sealed = pooled<{ readonly changes: number }>`select waypost_seal(${batch}::int) as changes`
  yield* Effect.repeat(sealed, { until: ([row]) => row!.changes < batch })
})

const quietly = Effect.catchCause(seal, (cause) => Effect.logWarning("Could not seal the change log", cause))

/** Seals while the service runs. A follower of the log sees a change this long after its commit. */
export const layer = Layer.effectDiscard(Effect.forkScoped(Effect.repeat(quietly, Schedule.spaced("100 millis"))))
