import { Context, Effect, Layer } from "effect"
import type { Actor } from "../../domain/changes/Actor.ts"
import type { Action } from "../../domain/changes/EventType.ts"
import type { RecordType } from "../../domain/changes/RecordType.ts"
import type { RelationKind } from "../../domain/write/Relations.ts"
import { sql } from "../../sql/Fragment.ts"
import { maxLogBytes, maxSmallBytes } from "../../sql/lists/AnswerSizes.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { type PageRequest, pageSql } from "./EventPages.ts"
import type { State } from "./EventValues.ts"
import { recordTables } from "./RecordTables.ts"

/** Added and removed relations of an event. */
export interface Link {
  readonly path: RelationKind
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
    /**
     * A page reads a bounded part of the log, so that it can be empty although there are more events. One of more than 2 MiB takes its
     * turn among the large pages of keys.
     */
    page(request: PageRequest): Effect.Effect<EventPage>
    /** Reads a page without a turn, for what a process reads once for all keys. */
    read(request: PageRequest): Effect.Effect<EventPage>
    /** Whether the log has an event of the record, or the record exists. */
    hasHistory(type: RecordType, uuid: string): Effect.Effect<boolean>
    readonly retained: Effect.Effect<Retained>
    /** Oldest first. */
    readonly generations: Effect.Effect<ReadonlyArray<Generation>>
  }
>()("waypost/repositories/changes/EventLog") {
  static readonly layer = Layer.effect(
    EventLog,
    Effect.gen(function* () {
      const { largePages, pooled } = yield* Sql
      const retained = Effect.orDie(
        Effect.map(
          pooled<Retained>`select position::float8 as last, pruned_position::float8 as pruned from event_log`,
          ([row]) => row!
        )
      )
      const generations = Effect.orDie(
        pooled<Generation>`select id::text, after_position::float8 as "afterPosition" from event_generations order by number`
      )
      const hasHistory = (type: RecordType, uuid: string) =>
        Effect.orDie(
          Effect.map(
            pooled<{ readonly found: boolean }>`
              select exists (select from events where record_uuid = ${uuid}::uuid and type = ${type}::text)
                or exists (select from ${sql.literal(recordTables[type])} where uuid = ${uuid}::uuid)
                or exists (select from pending_changes where uuid = ${uuid}::uuid and type = ${type}::text) as found`,
            ([row]) => row!.found
          )
        )
      const rowOf = (request: PageRequest) => Effect.map(pooled<PageRow>`${pageSql(request)}`, ([row]) => row!)
      const pageOf = ({ limit, order }: PageRequest, { end, events, isCut, position }: PageRow): EventPage => {
        const read = events ?? []
        const reached = isCut || read.length >= limit ? read.at(-1)!.position : position
        return { events: read, position: reached, more: order === "asc" ? reached < end : reached > end + 1 }
      }
      const read = (request: PageRequest) => Effect.orDie(Effect.map(rowOf(request), (row) => pageOf(request, row)))
      const page = Effect.fnUntraced(function* (request: PageRequest) {
        const { maxBytes = maxLogBytes } = request
        const small = yield* rowOf({
          ...request,
          maxBytes: Math.min(maxBytes, maxSmallBytes),
          maxFirstBytes: maxSmallBytes
        })
        const isWhole = !small.isCut || (maxBytes <= maxSmallBytes && small.events !== null)
        return pageOf(request, isWhole ? small : yield* largePages(rowOf(request)))
      }, Effect.orDie)
      return traced(EventLog, { page, read, hasHistory, retained, generations })
    })
  )
}

interface PageRow {
  readonly events: ReadonlyArray<StoredEvent> | null
  /** Whether it ends before events that the page would have, because of its bytes. */
  readonly isCut: boolean
  /** The position up to which the statement read. */
  readonly position: number
  /** The end of the log in the direction of the page. */
  readonly end: number
}
