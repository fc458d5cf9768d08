import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The last call of an API module, as it is answered. It is not a setting, so a write of the settings keeps it.
  yield* sql`alter table product_modules add column last_call jsonb`
})
