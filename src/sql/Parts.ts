import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { withLongTimeout } from "./connections/ManyRecords.ts"
import { Sql } from "./Sql.ts"
import { isTooSlow } from "./SqlErrors.ts"

/** How many rows one statement removes, well within the time limit of statements. */
const part = 5000

/** Removes rows in parts, each with a statement. `remove` removes at most `limit` rows, and returns one row for each. */
export const removeInParts = <E, R>(remove: (limit: number) => Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.asVoid(Effect.repeat(remove(part), { until: (removed) => removed.length < part }))

type Step<A, R> = (size: number) => Effect.Effect<A, SqlError.SqlError, R>

/**
 * Runs steps, each with at most `max` of what it works on. After one that exceeds the statement timeout the next has a tenth, and each
 * after that may have a tenth more than the one before.
 */
export const makeStep = (max: number) => {
  let size = max
  const run = <A, R>(step: Step<A, R>): Effect.Effect<A, SqlError.SqlError, R> =>
    Effect.suspend(() => step(size)).pipe(
      Effect.tap(() => Effect.sync(() => (size = Math.min(max, Math.ceil(1.1 * size))))),
      Effect.tapError((error) => Effect.sync(() => isTooSlow(error) && (size = Math.ceil(size / 10))))
    )
  return { run, isSingle: () => size === 1 }
}

/**
 * Runs the steps of a job. One that exceeds the statement timeout is repeated with a tenth. A single one has as long as a write of many
 * records, whose changes it can have.
 */
export const makeSteps = (max: number) =>
  Effect.map(Sql, ({ pooled }) => {
    const { isSingle, run } = makeStep(max)
    const repeated = <A, R>(step: Step<A, R>): Effect.Effect<A, SqlError.SqlError, R> =>
      Effect.suspend(() => {
        const isLast = isSingle()
        return Effect.catchIf(run(step), isTooSlow, () =>
          isLast ? pooled.withTransaction(withLongTimeout(pooled, step(1))) : repeated(step)
        )
      })
    return repeated
  })
