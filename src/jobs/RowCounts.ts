import { Effect, Layer, Schedule } from "effect"
import { Sql } from "../sql/Sql.ts"

/** Rows per statement, because the planner has no useful statistics of a table that grows and is emptied all the time. */
const batch = 2000

/**
 * Keeps the exact totals cheap. A trigger adds a delta row for every statement that inserts or deletes; here the rows
 * of a table are folded into one. Each batch is a single statement, so a fold never changes the sum for a reader, and concurrent
 * processes take different rows.
 */
export const fold = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const folded = pooled<{ readonly rows: number }>`
    with gone as (
      delete from row_counts where ctid = any (array(
        select ctid from row_counts
        where relation = any (array(select relation from row_counts group by relation having count(*) > 1))
        limit ${batch} for update skip locked
      )) returning relation, delta
    ), kept as (
      insert into row_counts (relation, delta) select relation, sum(delta) from gone group by relation
    ) select count(*)::int as rows from gone`
  yield* Effect.repeat(folded, { until: ([row]) => row!.rows < batch })
})

const quietly = Effect.catchCause(fold, (cause) => Effect.logWarning("Could not fold the row counts", cause))

/** Folds every few seconds while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(Effect.repeat(quietly, Schedule.jittered(Schedule.spaced("5 seconds"))))
)
