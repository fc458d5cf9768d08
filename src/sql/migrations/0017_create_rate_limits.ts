import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // One row a key, rewritten at each of its requests: without a log, so that a request does not wait for the disk, and
  // with room beside it, so that the next version finds a place on the same page. After a crash all buckets are full.
  // Times are milliseconds since 1970, as the limiter counts.
  yield* sql`
    create unlogged table rate_limits (
      key text primary key collate "C",
      tokens double precision not null,
      refilled_at double precision not null,
      remaining double precision not null,
      asked_at double precision not null
    ) with (fillfactor = 50)`
})
