import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The rows of a plan by what they do, counted once when it is made.
  yield* sql`alter table plans add column counts jsonb`
  yield* sql`
    update plans p set counts = (
      select json_build_object('create', count(*) filter (where r.kind = 'create'),
        'update', count(*) filter (where r.kind = 'update'), 'unchanged', count(*) filter (where r.kind = 'unchanged'),
        'delete', count(*) filter (where r.kind = 'delete'), 'refused', count(*) filter (where r.kind = 'refused'))
      from plan_rows r where r.plan = p.uuid)`
})
