import { Effect } from "effect"
import { seal } from "../../../src/jobs/Sealing.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { eventually } from "../Until.ts"
import { send } from "./Requests.ts"

/** Waits until every committed change is in the log; the service under test seals too. */
export const sealed = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const waiting = Effect.andThen(
    seal,
    pooled<{ readonly rows: number }>`select count(*)::int as rows from pending_changes`
  )
  yield* eventually("every change is sealed", waiting, ([row]) => row!.rows === 0)
})

/** An event as the feed answers it. */
export interface FeedEvent {
  readonly id: string
  readonly cursor: string
  readonly type: string
  readonly occurredAt: string
  readonly record: { readonly type: string; readonly uuid: string; readonly label?: string }
  readonly actor: { readonly type: string; readonly uuid?: string; readonly name?: string; readonly requestId?: string }
  readonly changes: ReadonlyArray<{
    readonly path: string
    readonly before?: unknown
    readonly after?: unknown
    readonly added?: ReadonlyArray<string>
    readonly removed?: ReadonlyArray<string>
  }>
}

/** Every event of the feed after a cursor, once what was committed is sealed. */
export const eventsAfter = Effect.fnUntraced(function* (cursor = "", query = "") {
  yield* sealed
  const events: Array<FeedEvent> = []
  let after = cursor
  for (let more = true; more;) {
    const { body } = yield* send("GET", `/v1/events?limit=500&after=${after}${query}`)
    events.push(...body.data)
    after = body.cursor
    more = body.more
  }
  return { events, cursor: after }
})

/** Runs an effect and returns the events that it caused. */
export const eventsOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const { cursor } = yield* eventsAfter()
  const value = yield* effect
  return { value, events: (yield* eventsAfter(cursor)).events }
})

/** The type, record and changes of events, for comparison in one assertion. */
export const shown = (events: ReadonlyArray<FeedEvent>) =>
  events.map(({ changes, record, type }) => ({
    type,
    uuid: record.uuid,
    changes: Object.fromEntries(
      changes.map(({ path, ...change }) => [path, change] as const).toSorted(([a], [b]) => (a < b ? -1 : 1))
    )
  }))
