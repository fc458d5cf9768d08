import { Array as Arr, Effect, type Result } from "effect"
import type { SqlClient } from "effect/sql"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import { type Counts, type PlanId, PlanKind } from "../../domain/plans/Plan.ts"
import type { Issue } from "../../domain/write/RequestErrors.ts"
import type { Entry } from "../../domain/changes/Event.ts"
import type { Comparison, Deletions } from "../../sql/batch/BatchTypes.ts"
import { sql } from "../../sql/Fragment.ts"
import { isEvent } from "../changes/EventPages.ts"
import { byteLimit } from "./PlanRecords.ts"

/** A row of a file: the record, or why it could not be read. */
export interface FileRow {
  readonly row: number
  readonly data: Result.Result<unknown, ReadonlyArray<Issue>>
  /** The record of a row that is refused, as far as it can be read. */
  readonly named?: unknown
}

/** A row of a plan as it is stored. */
export interface StagedRow {
  readonly place: number
  readonly row?: number | undefined
  readonly key: string
  readonly compared: string
  readonly kind: PlanKind
  readonly record?: string | undefined
  readonly editedAt?: string | undefined
  readonly data?: unknown
  readonly changes: ReadonlyArray<Entry>
  readonly issues?: ReadonlyArray<Issue> | undefined
}

/** A key of the file, and the record that has it. */
export interface Found {
  readonly place: number
  readonly compared: string
  readonly uuid: string | null
  readonly editedAt: string | null
  readonly isWithin: boolean
}

/** Finds the records of keys. */
export const find = (
  pooled: SqlClient.SqlClient,
  { compared, key, table, where }: Comparison,
  filter: ReadonlyArray<Condition>,
  keys: ReadonlyArray<{ readonly place: number; readonly key: string }>
) => pooled<Found>`
  select named.place, (${compared(sql`named.key`)})::text as compared, t.uuid::text as uuid, t.edited_at::text as "editedAt",
    (${where(filter)}) is true as "isWithin"
  from jsonb_to_recordset(${JSON.stringify(keys.map(({ key, place }) => ({ key, place })))}::jsonb) as named (place int, key text)
  left join ${table} t on ${compared(key)} = ${compared(sql`named.key`)}`

/** How many deletions one statement refuses. */
const refusedAtOnce = 5000

/** Refuses the deletions that cannot be done, and returns how many these are. */
export const refuseDeletions = Effect.fnUntraced(function* (
  pooled: SqlClient.SqlClient,
  { issuesOf, kept }: Deletions,
  plan: PlanId
) {
  const rows = yield* pooled<{ readonly record: string; readonly count: number }>`
    with planned as not materialized (select record, kind, data from plan_rows where plan = ${plan}::uuid) ${kept}`
  for (const part of Arr.chunksOf(rows, refusedAtOnce)) {
    const refused = part.map(({ count, record }) => ({ record, issues: issuesOf(count) }))
    yield* pooled`
      update plan_rows p set kind = 'refused', changes = '[]', issues = sent.issues
        from jsonb_to_recordset(${JSON.stringify(refused)}::jsonb) as sent (record uuid, issues jsonb)
        where p.plan = ${plan}::uuid and p.record = sent.record and p.kind = 'delete'`
  }
  return rows.length
})

/** The rows of a plan by what they do, and how many records it compares. */
export const count = (
  pooled: SqlClient.SqlClient,
  { table, where }: Comparison,
  filter: ReadonlyArray<Condition>,
  plan: PlanId
) => pooled<{ readonly counts: Counts; readonly records: number }>`
  select (select json_build_object(${sql.csv(
    PlanKind.literals.map((kind) => sql.literal(`'${kind}', count(*) filter (where r.kind = '${kind}')`))
  )}) from plan_rows r where r.plan = ${plan}::uuid) as counts,
    (select count(*)::int from ${table} t where ${where(filter)}) as records`

/** The text of a value; what PostgreSQL has no text for is U+FFFD. */
const storable = (_: string, value: unknown) =>
  typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value

/** The rows as JSON. What PostgreSQL has no text for is escaped in it, like some other characters. */
const jsonOf = (rows: ReadonlyArray<StagedRow>) => {
  const text = JSON.stringify(rows)
  return text.includes("\\u") ? JSON.stringify(rows, storable) : text
}

/** Stores rows of a plan. */
export const stage = (pooled: SqlClient.SqlClient, plan: PlanId, rows: ReadonlyArray<StagedRow>) => pooled`
  insert into plan_rows (plan, place, row, key, compared, kind, record, edited_at, data, changes, issues)
    select ${plan}::uuid, place, row, key, compared, kind, record, "editedAt", data, changes, issues
    from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as sent (place int, row int, key text, compared text, kind text,
      record uuid, "editedAt" timestamptz, data jsonb, changes jsonb, issues jsonb)`

/** Locks the records of a plan. */
export const lock = (pooled: SqlClient.SqlClient, { table }: Comparison, plan: PlanId) => pooled`
  select from ${table} t join plan_rows p on p.record = t.uuid
    where p.plan = ${plan}::uuid and p.kind in ('update', 'delete') order by t.uuid for update of t`

/**
 * The keys of records that changed since they were compared, or that were created. The log has the changes of modules and
 * members, which leave `edited_at` as it is; those of members count for the records on both sides, and logins do not count. Changes
 * that were sealed later have the time of the change. Times are rounded, so that one within 5 ms of the beginning counts as before it.
 */
export const outdated = (pooled: SqlClient.SqlClient, { compared, key, table }: Comparison, plan: PlanId) =>
  pooled<{ readonly key: string }>`
    with made as materialized (
      select resource, created_at + interval '5 milliseconds' as time, (options->>'sealed')::bigint as sealed,
        (options->>'pending')::bigint as pending from plans where uuid = ${plan}::uuid
    ), later as materialized (
      select e.record_uuid as uuid, e.links from made, events e
        where e.position > made.sealed and e.occurred_at > made.time and ${isEvent}
      union all
      select c.uuid, case when c.links is not null then jsonb_build_array(c.links) end from made, pending_changes c
        where c.id > made.pending and not waypost_is_login(c.type, c.action, c.after, c.links)
    ), changed as materialized (
      -- One pass over both, whatever PostgreSQL expects of their sizes.
      select max(key) as key from (
        select p.record as uuid, p.key from plan_rows p where p.plan = ${plan}::uuid and p.kind in ('update', 'delete')
        union all select uuid, null from later
        union all select member::uuid, null from made, later, jsonb_array_elements(links) link,
          lateral (select jsonb_array_elements_text((link->'added') || (link->'removed')) as member) members
          where link->>'path' = made.resource
      ) named group by uuid having max(key) is not null and bool_or(key is null)
    )
    select p.key from plan_rows p left join ${table} t on t.uuid = p.record
      where p.plan = ${plan}::uuid and p.kind in ('update', 'delete') and t.edited_at is distinct from p.edited_at
    union
    select key from changed
    union all
    select p.key from plan_rows p join ${table} t on ${compared(key)} = p.compared
      where p.plan = ${plan}::uuid and p.kind = 'create'
    limit 1001`

export interface PlannedWrite {
  readonly place: number
  readonly key: string
  readonly kind: "create" | "update" | "delete"
  readonly record: string | null
  readonly data: unknown
}

/** What a plan writes next, in its order. */
export const writes = (pooled: SqlClient.SqlClient, plan: PlanId, after: number, count: number) => pooled<PlannedWrite>`
  select place, key, kind, record::text as record, data from (
    select *, row_number() over next = 1 or sum(coalesce(octet_length(data::text), 0)) over next <= ${byteLimit} as is_taken
    from (
      select place, key, kind, record, data from plan_rows
        where plan = ${plan}::uuid and place > ${after}::int and kind in ('create', 'update', 'delete')
        order by place limit ${count}::int
    ) following window next as (order by place)
  ) sized where is_taken order by place`
