import { Effect, String as Str } from "effect"
import type { SqlClient } from "effect/sql"
import { withLongTimeout } from "../../sql/connections/ManyRecords.ts"

/**
 * Removes the values of all events of a deleted user, in the transaction that deletes it or later, and notes that in the
 * log. The answers that are kept for repeated requests and the plans that name the user, in any case, are removed as well:
 * an answer has the uuid of what was written, a name that is taken, or the keys of a plan that is outdated. They have any number of
 * bytes, and all are read. Returns how many events the user has.
 */
export const eraseUser = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, uuid: string) {
  const removed = sql`
    with names as materialized (
      select array_agg(distinct lower(value)) as known,
        array_agg(distinct to_json(lower(value))::text) as encoded from (
        select before, after from events where type = 'user' and record_uuid = ${uuid}::uuid
        union all select before, after from pending_changes where type = 'user' and uuid = ${uuid}::uuid
      ) states, lateral (select * from jsonb_each_text(before) union all select * from jsonb_each_text(after)) members
        where key in ('username', 'email') and value <> ''
    ), answers as (
      delete from idempotent_answers a where position(${uuid} in a.body) > 0
        or position('NotUniqueError"' in a.body) > 0
          and exists (select from names, unnest(encoded) name where position('"value":' || name in lower(a.body)) > 0)
        or a.status = 409 and position('PlanOutdatedError"' in a.body) > 0
          and exists (select from names, unnest(encoded) name where position(name in lower(a.body)) > 0)
    ) delete from plans where uuid in (
      select p.uuid from plans p where p.resource = 'users' and exists (
        select from plan_rows r, names where r.plan = p.uuid and (r.record = ${uuid}::uuid or lower(r.key) = any (known)
          or lower(r.data->>'username') = any (known) or lower(r.data->>'email') = any (known)
          or exists (select from jsonb_array_elements(r.changes) change where change->>'path' in ('username', 'email')
            and (lower(change->>'before') = any (known) or lower(change->>'after') = any (known)))))
      union all
      select r.plan from names, plan_rows r, jsonb_array_elements(r.issues) issue, unnest(known) name
        where r.kind = 'refused' and position('"' || name || '"' in lower(issue->>'message')) > 0)`
  yield* withLongTimeout(sql, removed)
  const [row] = yield* sql<{ readonly events: number }>`select waypost_erase('user', ${uuid}::uuid) as events`
  return row!.events
})

/** The column of a member, and the way to the value in it. */
const columnPath = (member: string) => {
  const [first, ...rest] = member.split(".")
  return [Str.camelToSnake(first!), ...rest]
}

/**
 * Removes the values of some members from the events of a location; otherwise the same. The plans that have a row of it are
 * removed; the row of a plan that created it has only its identifier.
 */
export const erasePaths = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  uuid: string,
  members: ReadonlyArray<string>
) {
  yield* sql`
    with names as materialized (
      select array_agg(distinct value) as known from (
        select before, after from events where type = 'location' and record_uuid = ${uuid}::uuid
        union all select before, after from pending_changes where type = 'location' and uuid = ${uuid}::uuid
      ) states, lateral (values (before->>'identifier'), (after->>'identifier')) identifiers (value)
    ) delete from plans p where p.resource = 'locations' and (
      exists (select from plan_rows r where r.plan = p.uuid and r.record = ${uuid}::uuid)
      or (p.counts->>'create')::int is distinct from 0 and exists (
        select from plan_rows r, names where r.plan = p.uuid and r.kind = 'create' and r.compared = any (known)))`
  const [row] = yield* sql<{ readonly events: number }>`
    select waypost_erase_paths('location', ${uuid}::uuid, ${JSON.stringify(members.map(columnPath))}::jsonb) as events`
  return row!.events
})
