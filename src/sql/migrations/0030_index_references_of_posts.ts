import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Posts whose answers change with a user, a group or a location.
  yield* sql`create index posts_author on posts (((author->>'uuid')::uuid), uuid) where author is not null`
  yield* sql`create index posts_audience on posts using gin (audience jsonb_path_ops) with (gin_pending_list_limit = 512)`
})
