import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // When a reservation that waits for approval ends, as the module said when it was made; never if it is null.
  yield* sql`
    alter table product_reservations add column hold_expires_at timestamptz(3),
      add constraint product_reservations_hold check (hold_expires_at is null or status = 'held')`
})
