import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Every part of an upload asks whether the key of its upload is still active.
  yield* sql`create index upload_sessions_storage_id on upload_sessions (storage_id) where status = 'open'`
})
