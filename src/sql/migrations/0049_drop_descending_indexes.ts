import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const indexes = [
  "locations_city_desc",
  "locations_country_code_desc",
  "locations_locale_desc",
  "users_first_name_desc",
  "users_last_name_desc",
  "posts_publish_at_desc"
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The ascending indexes serve both directions since lists read rows without a value by themselves.
  for (const name of indexes) yield* sql.unsafe(`drop index ${name}`)
})
