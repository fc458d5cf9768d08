import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The first keys of a creator are read off the index, of which one key can have any number.
  yield* sql`
    create index api_keys_creators on api_keys (created_by_key_uuid, uuid) where created_by_key_uuid is not null`

  // Last, because reads of keys wait from here to the end.
  yield* sql`drop index api_keys_created_by`
})
