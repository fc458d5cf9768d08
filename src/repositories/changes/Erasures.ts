import { Effect, String as Str } from "effect"
import type { SqlClient } from "effect/sql"
import type { RecordType } from "../../domain/changes/RecordType.ts"

/**
 * Removes the values of all events of a deleted user, in the transaction that deletes it or later, and notes that in the
 * log. The answers that are kept for repeated requests and the plans that name the user, in any case, are removed as well.
 * A text such as `data` is in every answer, so that only the members with names count, and the message of an error, which is
 * no answer to a write. Returns how many events the user has.
 */
export const eraseUser = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, uuid: string) {
  yield* sql`
    with names as materialized (
      select name, substr(to_json(name)::text, 2, length(to_json(name)::text) - 2) as written from (
      select ${uuid}::text as name
      union select lower(value) from (
        select before, after from events where type = 'user' and record_uuid = ${uuid}::uuid
        union all select before, after from pending_changes where type = 'user' and uuid = ${uuid}::uuid
      ) states, lateral (select * from jsonb_each_text(before) union all select * from jsonb_each_text(after)) members
        where key in ('username', 'email') and value <> ''
      ) known
    ), answers as (
      delete from idempotent_answers a using names n where position(n.written in lower(a.body)) > 0 and (
        n.name = ${uuid} or a.status >= 400 or exists (
          select from (select case when pg_input_is_valid(a.body, 'jsonb') then a.body::jsonb end as json) body, lateral (
            select jsonb_path_query(json, '$.**.username') as value
            union all select jsonb_path_query(json, '$.**.email')
            union all select jsonb_path_query(json, '$.**.author.name')
          ) members where lower(value #>> '{}') = n.name))
    ) delete from plans p where p.resource = 'users' and exists (
      select from plan_rows r where r.plan = p.uuid and (r.record = ${uuid}::uuid or exists (
        select from names n where n.name = lower(r.key) or exists (
          select from jsonb_path_query(jsonb_build_array(r.data, r.changes), '$.**') value
          where jsonb_typeof(value) = 'string' and lower(value #>> '{}') = n.name))))`
  const [row] = yield* sql<{ readonly events: number }>`select waypost_erase('user', ${uuid}::uuid) as events`
  return row!.events
})

/** The column of a member, and the way to the value in it. */
const columnPath = (member: string) => {
  const [first, ...rest] = member.split(".")
  return [Str.camelToSnake(first!), ...rest]
}

/** Removes the values of some members from the events of a record; otherwise the same. */
export const erasePaths = (sql: SqlClient.SqlClient, type: RecordType, uuid: string, members: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ readonly events: number }>`
      select waypost_erase_paths(${type}::text, ${uuid}::uuid, ${JSON.stringify(members.map(columnPath))}::jsonb) as events`,
    ([row]) => row!.events
  )
