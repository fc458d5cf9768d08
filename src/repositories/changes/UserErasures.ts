import { Effect, PartitionedSemaphore } from "effect"
import type { SqlClient } from "effect/sql"
import { CurrentShare } from "../../domain/keys/Share.ts"
import type { Turn } from "../../sql/connections/FairPermits.ts"
import { withLongTimeout } from "../../sql/connections/ManyRecords.ts"
import { sql } from "../../sql/Fragment.ts"
import { lockSoonSql, transaction } from "../../sql/Transactions.ts"
import { lockSql } from "./restoring/Restoration.ts"

/** The kept answers and the plans that name a user. */
interface Found {
  /** In JSON. */
  readonly answers: ReadonlyArray<string>
  readonly plans: ReadonlyArray<string>
  /** What was committed before this time is searched; nothing yet without one. */
  readonly until: string | undefined
}

const nothing: Found = { answers: [], plans: [], until: undefined }

/**
 * The erasure of users that are deleted. The answers that are kept for repeated requests and the plans that name the user, in any
 * case, are removed as well: an answer has the uuid of what was written, a name that is taken, or the keys of a plan that is outdated. They
 * have any number of bytes, and all are read: before the transaction that removes them, so that nothing waits for its locks as long.
 */
export const make = (pooled: SqlClient.SqlClient) => {
  /** What the last search found: one that a lock has begin again only goes on. */
  let last: { readonly uuid: string; readonly found: Found } | undefined
  const permits = PartitionedSemaphore.makeUnsafe<string>({ permits: 1 })
  const turn: Turn = (search) => Effect.flatMap(CurrentShare, ({ id }) => permits.withPermit(id)(search))

  /**
   * Finds the answers and plans that name the user: what an earlier search found, and what was written since. An answer has the time at
   * which its transaction began, and a plan can get rows for minutes.
   */
  const find = Effect.fnUntraced(function* (uuid: string, { answers, plans, until }: Found) {
    // In a statement of its own, before the snapshot of the search.
    const [begun] = yield* pooled<{ readonly until: string }>`
      select greatest(clock_timestamp() - interval '10 minutes', case current_setting('track_activities') when 'on' then
        least(clock_timestamp(), min(xact_start)) - interval '1 second' end)::text as until
      from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
    const laterAnswers = until === undefined ? sql`true` : sql`a.created_at >= ${until}::timestamptz`
    const laterPlans =
      until === undefined ? sql`true` : sql`p.created_at >= ${until}::timestamptz - interval '15 minutes'`
    const [found] = yield* pooled<{ readonly answers: string; readonly plans: ReadonlyArray<string> }>`
      with names as materialized (
        select array_agg(distinct lower(value)) as known,
          array_agg(distinct to_json(lower(value))::text) as encoded from (
          select before, after from events where type = 'user' and record_uuid = ${uuid}::uuid
          union all select before, after from pending_changes where type = 'user' and uuid = ${uuid}::uuid
          union all select to_jsonb(u), null from users u where u.uuid = ${uuid}::uuid
        ) states, lateral (select * from jsonb_each_text(before) union all select * from jsonb_each_text(after)) members
          where key in ('username', 'email') and value <> ''
      ) select (
        select coalesce(json_agg(json_build_object('owner', a.owner, 'key', a.key, 'at', a.created_at)), '[]')::text
        from idempotent_answers a where ${laterAnswers} and (position(${uuid} in a.body) > 0
          or position('NotUniqueError"' in a.body) > 0
            and exists (select from names, unnest(encoded) name where position('"value":' || name in lower(a.body)) > 0)
          or a.status = 409 and position('PlanOutdatedError"' in a.body) > 0
            and exists (select from names, unnest(encoded) name where position(name in lower(a.body)) > 0))
      ) as answers, array(
        select p.uuid::text from plans p where p.resource = 'users' and ${laterPlans} and exists (
          select from plan_rows r, names where r.plan = p.uuid and (r.record = ${uuid}::uuid or lower(r.key) = any (known)
            or lower(r.data->>'username') = any (known) or lower(r.data->>'email') = any (known)
            or exists (select from jsonb_array_elements(r.changes) change where change->>'path' in ('username', 'email')
              and (lower(change->>'before') = any (known) or lower(change->>'after') = any (known)))))
        union
        select r.plan::text from names, plans p join plan_rows r on r.plan = p.uuid, jsonb_array_elements(r.issues) issue,
            unnest(known) name
          where ${laterPlans} and r.kind = 'refused' and position('"' || name || '"' in lower(issue->>'message')) > 0
      ) as plans`
    return { answers: [...answers, found!.answers], plans: [...plans, ...found!.plans], until: begun!.until }
  })

  /**
   * What names the user. One search runs at a time, because it takes a processor of the database. It ends with what was written during
   * its first part, so that little is left for the erasure.
   */
  const search = Effect.fnUntraced(
    function* (uuid: string) {
      yield* pooled`${lockSoonSql("erasures")}`
      yield* pooled`set local lock_timeout to default`
      let found = last?.uuid === uuid ? last.found : nothing
      for (let part = 0; part < 2; part++) {
        found = yield* withLongTimeout(pooled, find(uuid, found))
        last = { uuid, found }
      }
      return found
    },
    (searched) => transaction(pooled, searched, { waitsForLocks: true, turn })
  )

  const remove = ({ answers, plans }: Found) => pooled`
    with removed as (
      delete from idempotent_answers a using unnest(${answers}::text[]) part,
        json_to_recordset(part::json) as found (owner uuid, key text, at timestamptz)
        where a.owner = found.owner and a.key = found.key and a.created_at = found.at
    ) delete from plans where uuid = any (${plans}::uuid[])`

  return {
    /** Whether the log has an event of the user. */
    isKnown: (uuid: string) =>
      pooled<{ readonly known: boolean }>`
        select exists (select from events where type = 'user' and record_uuid = ${uuid}::uuid)
          or exists (select from pending_changes where type = 'user' and uuid = ${uuid}::uuid) as known`.pipe(
        Effect.map(([row]) => row!.known),
        Effect.orDie
      ),
    /** Keeps restorations of the user out of the transaction. */
    lock: (uuid: string) => pooled`${lockSql(uuid)}`,
    search,
    /**
     * Removes the values of all events of the user, in the transaction that deletes it or a later one, and notes that in the log. Removes
     * what was found and what was written since.
     */
    erase: Effect.fnUntraced(function* (uuid: string, earlier: Found) {
      const found = yield* find(uuid, earlier)
      yield* withLongTimeout(pooled, remove(found))
      // It seals what waits for that, which can be more than a statement has time for.
      yield* withLongTimeout(pooled, pooled`select waypost_erase('user', ${uuid}::uuid)`)
      last = undefined
    })
  }
}
