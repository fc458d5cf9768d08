import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The products whose settings name a user, a group, a location, an asset or a category.
  yield* sql`create index product_modules_settings on product_modules using gin (settings jsonb_path_ops)
    with (gin_pending_list_limit = 512)`
})
