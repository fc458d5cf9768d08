import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // An upload has its row from its beginning to the deletion of its file, which left those of earlier files behind.
  yield* sql`
    delete from upload_sessions u
      where status = 'completed' and not exists (select from files f where f.uuid = u.file_uuid)`

  // Of the uploads that ended without a file, the sweeper removes the oldest.
  yield* sql`create index upload_sessions_ended on upload_sessions (expires_at) where status in ('aborted', 'expired')`
})
