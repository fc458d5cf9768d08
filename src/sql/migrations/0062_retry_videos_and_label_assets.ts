import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Videos counted as failed on a machine without an ffmpeg. A request on a machine with one renders them.
  yield* sql`
    update files set processing = 'pending', rendered_at = null where processing = 'failed' and mime_type like 'video/%'`
})
