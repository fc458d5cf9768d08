import { Effect, String as Str } from "effect"
import type { SqlClient } from "effect/sql"
import { withLongTimeout } from "../../sql/connections/ManyRecords.ts"

/** The column of a member, and the way to the value in it. */
const columnPath = (member: string) => {
  const [first, ...rest] = member.split(".")
  return [Str.camelToSnake(first!), ...rest]
}

/**
 * Removes the values of some members from the events of a location, and notes that in the log. The plans that have a row of it are
 * removed; the row of a plan that created it has only its identifier. Returns how many events the location has.
 */
export const erasePaths = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  uuid: string,
  members: ReadonlyArray<string>
) {
  // Plans have up to 250,000 rows each, and a key may have applied many.
  yield* withLongTimeout(
    sql,
    sql`
    with names as materialized (
      select array_agg(distinct value) as known from (
        select before, after from events where type = 'location' and record_uuid = ${uuid}::uuid
        union all select before, after from pending_changes where type = 'location' and uuid = ${uuid}::uuid
      ) states, lateral (values (before->>'identifier'), (after->>'identifier')) identifiers (value)
    ) delete from plans p where p.resource = 'locations' and (
      exists (select from plan_rows r where r.plan = p.uuid and r.record = ${uuid}::uuid)
      or (p.counts->>'create')::int is distinct from 0 and exists (
        select from plan_rows r, names where r.plan = p.uuid and r.kind = 'create' and r.compared = any (known)))`
  )
  // It seals what waits for that, which can be more than a statement has time for.
  const [row] = yield* withLongTimeout(
    sql,
    sql<{ readonly events: number }>`
      select waypost_erase_paths('location', ${uuid}::uuid, ${JSON.stringify(members.map(columnPath))}::jsonb) as events`
  )
  return row!.events
})
