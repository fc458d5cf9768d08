import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create index api_keys_created_by on api_keys (created_by_key_uuid) where created_by_key_uuid is not null`
})
