import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Since when a file is only in the past: once the log does not reach back to then, its facts are not needed any more.
  yield* sql`alter table past_files add column deleted_at timestamptz(3) not null default now()`
  yield* sql`create index past_files_deleted_at on past_files (deleted_at)`
})
