import { DateTime } from "effect"
import type { RelationKind } from "../../domain/write/Relations.ts"
import { timestampJson } from "../../sql/Columns.ts"
import { maxLogBytes } from "../../sql/lists/AnswerSizes.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

export { maxLogBytes }

/** Which events a page has; each condition narrows it. */
export interface Selection {
  /** Types such as `location.updated`; all types unless given. */
  readonly types?: ReadonlyArray<string> | undefined
  /** The record of the event, or one on the other side of its relations. */
  readonly record?: string | undefined
  /** The paths of the relations by which `record` selects an event of another record; all paths unless given. */
  readonly paths?: ReadonlyArray<RelationKind> | undefined
  readonly actor?: string | undefined
  /** Inclusive. */
  readonly since?: DateTime.Utc | undefined
  /** Exclusive. */
  readonly until?: DateTime.Utc | undefined
}

export interface PageRequest extends Selection {
  /** The position after which the page begins, or before which it does in descending order; the end unless given. */
  readonly after?: number | undefined
  readonly limit: number
  readonly order: "asc" | "desc"
  /** Bytes of values in the page, whose first event may have more; `maxLogBytes` unless given. */
  readonly maxBytes?: number | undefined
  /** Bytes of values that its first event may have; any number unless given. A page can then be cut before its first event. */
  readonly maxFirstBytes?: number | undefined
}

/** Positions that one page reads at most. */
const span = 10_000

/** Events of one record that a page with other conditions reads at most. */
const recordSpan = 2000

/** The columns of an event `e` as `StoredEvent` has them. */
export const members = sql`e.position, e.id, e.type, e.action, e.record_uuid as uuid,
  ${timestampJson(sql`e.occurred_at`)} as "occurredAt", e.actor,
  (select k.name from api_keys k where k.uuid = (e.actor->>'uuid')::uuid) as "actorName", e.label, e.before, e.after,
  e.links, e.bytes`

/** Whether the row `e` is an event. A login is in the log for those who mirror users; clients read no event of it. */
export const isEvent = sql`e.action <> 'touched'`

const timestamp = (time: DateTime.Utc) => sql`${DateTime.formatIso(time)}::timestamptz`

/** The links that an event has at least one of if it adds or removes a record on one of the paths. */
const linksTo = (record: string, paths: ReadonlyArray<RelationKind>) =>
  paths.flatMap((path) => ["added", "removed"].map((change) => JSON.stringify([{ path, [change]: [record] }])))

const conditionsOf = ({ actor, paths, record, since, types, until }: Selection): ReadonlyArray<Fragment> => [
  ...(types === undefined ? [] : [sql`e.type || '.' || e.action = any (${types}::text[])`]),
  ...(actor === undefined ? [] : [sql`e.actor->>'uuid' = ${actor}::text`]),
  ...(since === undefined ? [] : [sql`e.occurred_at >= ${timestamp(since)}`]),
  ...(until === undefined ? [] : [sql`e.occurred_at < ${timestamp(until)}`]),
  ...(record === undefined || paths === undefined
    ? []
    : [sql`(e.record_uuid = ${record}::uuid or e.links @> any (${linksTo(record, paths)}::text[]::jsonb[]))`])
]

/**
 * Where a page begins and ends: `start` is not in it, `stop` is. The events since a time begin behind the last position that
 * was sealed before it, in either order.
 */
const boundsOf = ({ after, order, record, since }: PageRequest): Fragment => {
  const first = sql`greatest(log.pruned_position, ${since === undefined ? sql`0` : sql`waypost_position_at(${timestamp(since)})`})`
  const reach = record === undefined ? sql`${span}::bigint` : sql`log.position`
  return order === "asc"
    ? sql`select start, least(log.position, start + ${reach}) as stop, log.position as "end"
        from event_log log, lateral (select greatest(${after ?? null}::bigint, ${first}) as start) begin`
    : sql`select start, least(log.position, start, greatest(first + 1, start - ${reach})) as stop, first as "end"
        from event_log log, lateral (select ${first} as first offset 0) since,
          lateral (select least(coalesce(${after ?? null}::bigint, log.position + 1), log.position + 1) as start) begin`
}

/** Which positions of a table a page reads. */
const within = (position: Fragment, { order }: PageRequest) =>
  order === "asc"
    ? sql`${position} > (select start from bounds) and ${position} <= (select stop from bounds)`
    : sql`${position} < (select start from bounds) and ${position} >= (select stop from bounds)`

/** The events of a record from both sides of relations, each side by its index. */
const ofRecord = (record: string, request: PageRequest, conditions: ReadonlyArray<Fragment>): Fragment => {
  const direction = sql.literal(request.order)
  const count = sql`${conditions.length === 0 ? request.limit : recordSpan}::bigint`
  const positions = sql`
    (select e.position from events e where e.record_uuid = ${record}::uuid and ${isEvent} and ${within(sql`e.position`, request)}
      order by e.position ${direction} limit ${count})
    union
    (select l.position from event_links l where l.uuid = ${record}::uuid and ${within(sql`l.position`, request)}
      order by l.position ${direction} limit ${count})`
  return sql`
    candidates as materialized (select position from (${positions}) positions order by position ${direction} limit ${count}),
    reached as materialized (
      select case when count(*) < ${count} then (select stop from bounds) else ${
        request.order === "asc" ? sql`max(position)` : sql`min(position)`
      } end as position from candidates),
    chosen as materialized (
      select e.* from candidates c join events e using (position) where ${sql.and([...conditions, sql`true`])}
      order by c.position ${direction} limit ${request.limit}::bigint)`
}

const ofAll = (request: PageRequest, conditions: ReadonlyArray<Fragment>): Fragment => sql`
  reached as materialized (select stop as position from bounds),
  chosen as materialized (
    select e.* from events e where ${sql.and([within(sql`e.position`, request), isEvent, ...conditions])}
    order by e.position ${sql.literal(request.order)} limit ${request.limit}::bigint)`

/** The statement of a page: its events, the position up to which it read, and where the log ends in its direction. */
export const pageSql = (request: PageRequest): Fragment => {
  const { maxBytes = maxLogBytes, maxFirstBytes = null, order, record } = request
  const direction = sql.literal(order)
  const conditions = conditionsOf(request)
  return sql`
    with bounds as materialized (${boundsOf(request)}),
    ${record === undefined ? ofAll(request, conditions) : ofRecord(record, request, conditions)},
    sized as materialized (
      select e.*, sum(e.bytes) over next <= ${maxBytes}::bigint
          or row_number() over next = 1 and e.bytes <= coalesce(${maxFirstBytes}::bigint, e.bytes) as is_read
      from chosen e window next as (order by e.position ${direction}))
    select (select position from reached)::float8 as position, (select "end" from bounds)::float8 as "end",
      exists (select from sized where not is_read) as "isCut",
      (select json_agg(page order by position ${direction})
        from (select ${members} from sized e where e.is_read) page) as events`
}
