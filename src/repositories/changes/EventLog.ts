import { Context, DateTime, Effect, Layer } from "effect"
import type { Actor } from "../../domain/changes/Actor.ts"
import type { Action } from "../../domain/changes/EventType.ts"
import type { RecordType, Relation } from "../../domain/changes/RecordType.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import type { State } from "./EventValues.ts"

/** Added and removed relations of an event. */
export interface Link {
  readonly path: Relation
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

/** An event as the log has it. */
export interface StoredEvent {
  readonly position: number
  readonly id: string
  readonly type: RecordType
  readonly action: Action
  readonly uuid: string
  /** ISO 8601. */
  readonly occurredAt: string
  readonly actor: Actor
  /** The name of the key that is the actor. */
  readonly actorName: string | null
  readonly label: string | null
  readonly before: State | null
  readonly after: State | null
  readonly links: ReadonlyArray<Link> | null
  /** The size of the values. */
  readonly bytes: number
}

/** Which events a page has; each condition narrows it. */
export interface Selection {
  /** Types such as `location.updated`; all types unless given. */
  readonly types?: ReadonlyArray<string> | undefined
  /** The record of the event, or one on the other side of its relations. */
  readonly record?: string | undefined
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
}

/** Events in order, and the position up to which the log was read. */
export interface EventPage {
  readonly events: ReadonlyArray<StoredEvent>
  readonly position: number
  /** Whether there may be more events behind the position. */
  readonly more: boolean
}

/** The retained part of the log: the last position, and the last one that was pruned. */
export interface Retained {
  readonly last: number
  readonly pruned: number
}

/** A generation of the log begins where the ones before it end. */
export interface Generation {
  readonly id: string
  readonly afterPosition: number
}

/** The log of committed changes, in PostgreSQL. */
export class EventLog extends Context.Service<
  EventLog,
  {
    /** A page reads a bounded part of the log, so that it can be empty although there are more events. */
    page(request: PageRequest): Effect.Effect<EventPage>
    readonly retained: Effect.Effect<Retained>
    /** Oldest first. */
    readonly generations: Effect.Effect<ReadonlyArray<Generation>>
  }
>()("waypost/repositories/changes/EventLog") {
  static readonly layer = Layer.effect(
    EventLog,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const retained = Effect.orDie(
        Effect.map(
          pooled<Retained>`select position::float8 as last, pruned_position::float8 as pruned from event_log`,
          ([row]) => row!
        )
      )
      const generations = Effect.orDie(
        pooled<Generation>`select id::text, after_position::float8 as "afterPosition" from event_generations order by number`
      )
      const page = Effect.fnUntraced(function* (request: PageRequest) {
        const [row] = yield* pooled<PageRow>`${pageSql(request)}`
        const { end, events, position } = row!
        const { limit, order } = request
        const read = events ?? []
        const isFull = read.length > 0 && (read.length >= limit || read.at(-1)!.isLast)
        const reached = isFull ? read.at(-1)!.position : position
        return { events: read, position: reached, more: order === "asc" ? reached < end : reached > end + 1 }
      }, Effect.orDie)
      return traced(EventLog, { page, retained, generations })
    })
  )
}

interface PageRow {
  readonly events: ReadonlyArray<StoredEvent & { readonly isLast: boolean }> | null
  /** The position up to which the statement read. */
  readonly position: number
  /** The end of the log in the direction of the page. */
  readonly end: number
}

/** Positions that one page reads at most. */
const span = 10_000

/** Bytes of values in one page; its first event may have more. */
const maxBytes = 8 * 1024 * 1024

/** The columns of an event `e` as `StoredEvent` has them. */
const members = sql`e.position, e.id, e.type, e.action, e.record_uuid as uuid,
  to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "occurredAt", e.actor,
  (select k.name from api_keys k where k.uuid = (e.actor->>'uuid')::uuid) as "actorName", e.label, e.before, e.after,
  e.links, e.bytes`

/** Positions of the events of a record, from both sides of relations. */
const ofRecord = (record: string): Fragment => sql`(
  e.record_uuid = ${record}::uuid or exists (
    select from event_links l where l.uuid = ${record}::uuid and l.position = e.position))`

/** The statement of a page: `sealed_at` grows with the position, so that the begin of a time is found by bisection. */
const pageSql = ({ actor, after, limit, order, record, since, types, until }: PageRequest): Fragment => {
  const isAsc = order === "asc"
  const direction = sql.literal(order)
  const conditions = [
    ...(types === undefined ? [] : [sql`e.type || '.' || e.action = any (${types}::text[])`]),
    ...(record === undefined ? [] : [ofRecord(record)]),
    ...(actor === undefined ? [] : [sql`e.actor->>'uuid' = ${actor}::text`]),
    ...(since === undefined ? [] : [sql`e.occurred_at >= ${DateTime.formatIso(since)}::timestamptz`]),
    ...(until === undefined ? [] : [sql`e.occurred_at < ${DateTime.formatIso(until)}::timestamptz`]),
    sql`true`
  ]
  const begin = isAsc
    ? sql`greatest(${after ?? null}::bigint, log.pruned_position, ${since === undefined ? sql`0` : sql`waypost_position_at(${DateTime.formatIso(since)}::timestamptz)`})`
    : sql`least(coalesce(${after ?? null}::bigint, log.position + 1), log.position + 1)`
  const scope = isAsc
    ? sql`e.position > bounds.start and e.position <= bounds.stop`
    : sql`e.position < bounds.start and e.position >= bounds.stop`
  // The events of one record are found by an index, however many others lie between them.
  const stop = isAsc
    ? sql`least(log.position, start + ${record === undefined ? span : Number.MAX_SAFE_INTEGER}::bigint)`
    : sql`greatest(log.pruned_position + 1, start - ${record === undefined ? span : Number.MAX_SAFE_INTEGER}::bigint)`
  return sql`
    with bounds as materialized (
      select start, ${stop} as stop, ${isAsc ? sql`log.position` : sql`log.pruned_position`} as "end"
      from event_log log, lateral (select ${begin} as start) begin
    ), found as (
      select e.*, sum(e.bytes) over (order by e.position ${direction}) - e.bytes as read_before
      from (select e.* from events e, bounds where ${scope} and ${sql.and(conditions)}
        order by e.position ${direction} limit ${limit}::bigint) e
    ) select bounds.stop::float8 as position, bounds."end"::float8 as "end", (
        select json_agg(page order by position ${direction}) from (
          select ${members}, exists (select from found f where f.read_before >= ${maxBytes}) as "isLast"
          from found e where e.read_before < ${maxBytes}
        ) page
      ) as events from bounds`
}
