import type { SqlClient } from "effect/sql"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import type { PlanId } from "../../domain/plans/Plan.ts"
import type { Comparison } from "../../sql/batch/BatchTypes.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

/** Bytes of the records or rows that one statement reads; the first one may have more. */
export const byteLimit = sql.literal(String(4 * 1024 ** 2))

/** The first records of `listed (uuids)` as rows `page`, read one after the other: at most one more than is taken. */
const pageOf = ({ json, table }: Comparison): Fragment => sql`
  page as (
    select 0 as place, null::text as json, 0::bigint as bytes
    union all
    select p.place + 1, r.json, p.bytes + coalesce(octet_length(r.json), 0)
    from page p, listed l, lateral (
      select (select ${json} from ${table} t where t.uuid = l.uuids[p.place + 1]) as json offset 0
    ) r where p.place < cardinality(l.uuids) and p.bytes < ${byteLimit}
  )`

const isTaken = sql`(page.place = 1 or (page.place > 1 and page.bytes <= ${byteLimit}))`

/** The members of the first of some records, by their uuids; null for one that is deleted. */
export const readFirst = (pooled: SqlClient.SqlClient, comparison: Comparison, uuids: ReadonlyArray<string>) =>
  pooled<{ readonly uuid: string; readonly json: string | null }>`
    with recursive listed as materialized (select ${uuids}::uuid[] as uuids), ${pageOf(comparison)}
    select uuids[place]::text as uuid, json from page, listed where ${isTaken} order by place`

/** The members of records, by their uuids. */
export const read = (pooled: SqlClient.SqlClient, { json, table }: Comparison, uuids: ReadonlyArray<string>) =>
  pooled<{ readonly uuid: string; readonly json: string }>`
    select t.uuid::text as uuid, ${json} as json from ${table} t where t.uuid = any (${uuids}::uuid[])`

/** A record that no row of a plan names. */
export interface Unnamed {
  readonly uuid: string
  readonly key: string
  readonly compared: string
  readonly createdAt: string
  readonly editedAt: string
  readonly json: string
  /** Whether more records follow. */
  readonly isFollowed: boolean
}

interface UnnamedRequest {
  readonly filter: ReadonlyArray<Condition>
  readonly plan: PlanId
  readonly after: Unnamed | undefined
  readonly limit: number
  /** Which records are selected. */
  readonly part: Fragment
}

/** The first records of a part that no row of the plan names, those created last first. */
export const unnamed = (
  pooled: SqlClient.SqlClient,
  comparison: Comparison,
  { after, filter, limit, part, plan }: UnnamedRequest
) => {
  const { compared, key, table, where } = comparison
  return pooled<Unnamed>`
    with recursive chosen as materialized (
      select t.uuid, ${key} as key, (${compared(key)})::text as compared, t.created_at, t.edited_at
      from ${table} t where ${where(filter)} and ${part}
        and ${after === undefined ? sql`true` : sql`(t.created_at, t.uuid) < (${after.createdAt}::timestamptz, ${after.uuid}::uuid)`}
        and not exists (select from plan_rows p where p.plan = ${plan}::uuid and p.record = t.uuid)
      order by t.created_at desc, t.uuid desc limit ${limit}::int
    ), listed as materialized (
      select coalesce(array_agg(uuid order by created_at desc, uuid desc), '{}') as uuids from chosen
    ), ${pageOf(comparison)}
    select c.uuid::text as uuid, c.key, c.compared, c.created_at::text as "createdAt", c.edited_at::text as "editedAt",
      page.json, page.place < cardinality(uuids) or page.place = ${limit}::int as "isFollowed"
    from page, listed, chosen c where ${isTaken} and c.uuid = uuids[page.place] order by page.place`
}
