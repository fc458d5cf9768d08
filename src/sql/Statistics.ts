import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { sql } from "./Fragment.ts"

export const couldNotCorrect = "Could not correct the statistics of PostgreSQL"

/** Fewer rows than this are read quickly in any way. */
const minRows = 200

/**
 * Has PostgreSQL analyze tables that have more than ten times the rows that it expects. After a vacuum that found none but dead rows, as
 * a plan leaves them, it expects a single row, however many follow: until autovacuum comes, up to a minute later, statements on many
 * records would compare each of them with every row of the table. What fails is logged, since statements are only slower without it.
 */
export const correct = (pooled: SqlClient.SqlClient): Effect.Effect<void> =>
  Effect.gen(function* () {
    const tables = yield* pooled<{ readonly name: string }>`
      select c.relname as name from pg_class c join pg_stat_user_tables counted on counted.relid = c.oid
      where counted.schemaname = current_schema and c.relpages > 0
        and counted.n_live_tup > ${sql.literal(String(minRows))} and c.reltuples * 10 < counted.n_live_tup`
    // Within the transaction of a request, one that fails is undone alone.
    for (const { name } of tables)
      yield* pooled.withTransaction(pooled`analyze (skip_locked) ${pooled(name)}`.unprepared)
  }).pipe(Effect.catchCause((cause) => Effect.logWarning(couldNotCorrect, cause)))
