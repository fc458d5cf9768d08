import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Filters ask which assets have a value, or a list with it, of one meta tag.
  yield* sql`
    create index asset_meta_tags_value on asset_meta_tags using gin (value jsonb_path_ops) with (gin_pending_list_limit = 512)`
})
