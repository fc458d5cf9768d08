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
 * Runs the steps of a job, each with at most `max` of what it works on. A step that exceeds the statement timeout is repeated with a
 * tenth, and each step after it may take a tenth more than the one before. A single one has as long as a write of many records, whose
 * changes it can have, in a transaction of the `client` of the steps.
 */
export const makeSteps = (max: number, client: "pooled" | "deliveries" = "pooled") =>
  Effect.map(Sql, ({ [client]: sql }) => {
    let size = max
    const run = <A, R>(step: Step<A, R>): Effect.Effect<A, SqlError.SqlError, R> =>
      Effect.suspend(() => step(size)).pipe(
        Effect.tap(() => Effect.sync(() => (size = Math.min(max, Math.ceil(1.1 * size))))),
        Effect.catchIf(isTooSlow, () => {
          if (size === 1) return sql.withTransaction(withLongTimeout(sql, step(size)))
          size = Math.ceil(size / 10)
          return run(step)
        })
      )
    return run
  })
