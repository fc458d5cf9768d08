import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Statistics of `pending_changes` are mostly those of an empty table, and with them PostgreSQL joins thousands of changes
  // in nested loops. Without nested loops and sequential scans one plan suits any number of changes, so it is kept; the
  // statement is long, and planning it takes longer than sealing a few changes.
  yield* sql.unsafe(`
    alter function waypost_seal(int)
      set enable_nestloop = off set enable_seqscan = off set plan_cache_mode = force_generic_plan`)
})
