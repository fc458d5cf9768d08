import { Effect, Layer, Schedule } from "effect"
import { Sql } from "./Sql.ts"

/**
 * Keeps the exact totals cheap. A trigger adds a delta row for every statement that inserts or deletes; here the rows
 * of a table are folded into one. It is a single statement, so every reader sees the sum before or after it, and two
 * processes that fold at once take different rows.
 */
export const fold = Effect.gen(function* () {
  const { ordinary } = yield* Sql
  yield* ordinary`
    with gone as (
      delete from row_counts where ctid = any (array(
        select ctid from row_counts mine
        where (select count(*) from row_counts other where other.relation = mine.relation) > 1
        for update skip locked
      )) returning relation, delta
    ) insert into row_counts (relation, delta) select relation, sum(delta) from gone group by relation`
})

const quietly = Effect.catchCause(fold, (cause) => Effect.logWarning("Could not fold the row counts", cause))

/** Folds every few seconds while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(Effect.repeat(quietly, Schedule.jittered(Schedule.spaced("5 seconds"))))
)
