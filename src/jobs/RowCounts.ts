import { Duration, Effect, Layer, Schedule } from "effect"
import { Sql } from "../sql/Sql.ts"
import { begunLater, logged } from "./Repeated.ts"

/** Rows per statement, because the planner has no useful statistics of a table that grows and is emptied all the time. */
const batch = 2000

/** A fold of more rows than this is followed by another one soon, because every list without a filter reads them. */
const many = 200
const soon = Duration.millis(500)

const pause = Duration.seconds(5)

/**
 * Keeps the exact totals cheap. A trigger adds a delta row for every statement that inserts or deletes; here the rows
 * of a table are folded into one. Each batch is a single statement, so a fold never changes the sum for a reader, and concurrent
 * processes take different rows. Returns the number of rows that were folded.
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
  let rows = 0
  yield* Effect.repeat(folded, {
    until: ([row]) => {
      rows += row!.rows
      return row!.rows < batch
    }
  })
  return rows
})

const folded = Effect.map(logged("Could not fold the row counts", fold), (rows) => rows ?? 0)

const schedule = Schedule.spaced(pause).pipe(
  Schedule.setInputType<number>(),
  Schedule.modifyDelay(({ duration, input }) => Effect.succeed(input > many ? soon : duration)),
  Schedule.jittered
)

/** Folds every few seconds while the service runs, and more often while many records are created or deleted. */
export const layer = Layer.effectDiscard(Effect.forkScoped(begunLater(pause, Effect.repeat(folded, schedule))))
