import { Context, DateTime, Effect, Layer } from "effect"
import type { Delivery } from "../../domain/changes/Delivery.ts"
import { maxReplays, maxWaitingReplayed, type WebhookId, WebhookNotFoundError } from "../../domain/changes/Webhook.ts"
import { type Encoded, encodedArray } from "../../domain/schema/Encoded.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"
import { type DeliveryRequest, pageSql, type Place } from "./DeliveryPages.ts"

export interface DeliveryPage {
  readonly data: Encoded<ReadonlyArray<Delivery>>
  readonly last: Place | undefined
  readonly more: boolean
}

/** The part of the log that a replay sends. */
export interface Range {
  /** The position after which it begins. */
  readonly after?: number
  readonly since?: DateTime.Utc
}

/** A check of the webhook of a replay, once that is locked. */
type Check = Effect.Effect<void, WebhookNotFoundError>

/** The deliveries of webhooks as requests see them. */
export class Deliveries extends Context.Service<
  Deliveries,
  {
    /** Newest first. */
    list(webhook: WebhookId, request: DeliveryRequest): Effect.Effect<DeliveryPage>
    /** Sends a part of the log again and returns how many events of it the webhook receives. */
    replayRange(
      webhook: WebhookId,
      range: Range,
      check: Check
    ): Effect.Effect<number, WebhookNotFoundError | InvalidRequestError>
    /** Sends events again by their ids and returns how many of them the webhook receives. */
    replayEvents(
      webhook: WebhookId,
      ids: ReadonlyArray<string>,
      check: Check
    ): Effect.Effect<number, WebhookNotFoundError | InvalidRequestError>
  }
>()("waypost/repositories/webhooks/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const { pooled } = yield* Sql

      const list = Effect.fnUntraced(function* (webhook: WebhookId, request: DeliveryRequest) {
        const { limit } = request
        const rows = yield* pooled<Row>`${pageSql(webhook, request)}`
        const shown = rows.slice(0, limit)
        const page: DeliveryPage = {
          data: encodedArray(shown.map(({ json }) => json)),
          last: shown.at(-1),
          more: rows.length > limit
        }
        return page
      }, Effect.orDie)

      /** Locks an active webhook that passes the check. */
      const lock = Effect.fnUntraced(function* (webhook: WebhookId, check: Check) {
        const [row] = yield* pooled<{ readonly state: string }>`
          select state from webhooks where uuid = ${webhook} for no key update`
        if (row === undefined) return yield* WebhookNotFoundError.of(webhook)
        yield* check
        if (row.state !== "active") return yield* notActive(row.state)
      })

      /**
       * How many events after a position the webhook receives, and how many of its gap are not of the time; in parts, so that no
       * statement runs long.
       */
      const count = Effect.fnUntraced(function* (
        webhook: WebhookId,
        { from, gap, position }: Begin,
        isOfTime: Fragment
      ) {
        const [log] = yield* pooled<{ readonly end: number }>`select position::float8 as end from event_log`
        let [events, left] = [0, 0]
        for (let start = position; start < log!.end; start += span) {
          const [row] = yield* pooled<{ readonly events: number; readonly left: number }>`
            select count(*) filter (where ${isOfTime})::int as events, count(*) filter (
                where not ${isOfTime} and e.position > ${gap}::bigint and e.position <= ${from}::bigint)::int as left
              from events e, webhooks w where w.uuid = ${webhook}
                and e.position > ${start}::bigint and e.position <= ${start + span}::bigint
                and waypost_selects(w.types, e.type, e.action)`
          events += row!.events
          left += row!.left
        }
        return { events, left }
      }, Effect.orDie)

      const replayRange = Effect.fnUntraced(function* (webhook: WebhookId, { after, since }: Range, check: Check) {
        const time = since === undefined ? null : DateTime.formatIso(since)
        const [begin] = yield* Effect.orDie(pooled<Begin>`
          select coalesce(${after ?? null}::bigint, waypost_position_at(${time}::timestamptz))::float8 as position,
              gap_position::float8 as gap, from_position::float8 as "from"
            from webhook_states where webhook_uuid = ${webhook}`)
        if (begin === undefined) return yield* WebhookNotFoundError.of(webhook)
        const { from, gap, position } = begin
        const { events, left } = yield* count(
          webhook,
          begin,
          sql`(${time}::timestamptz is null or e.occurred_at >= ${time}::timestamptz)`
        )
        const write = Effect.gen(function* () {
          yield* lock(webhook, check)
          // Later events are in the queue already, or will be: who fills it has locked the webhook, or does so after this. Its
          // lock of the feed comes first, so that to wait for that one here would be a deadlock.
          const [feed] = yield* pooled<{ readonly position: number; readonly replays: number }>`
            select greatest(f.position, s.from_position)::float8 as position,
                (select count(*)::int from webhook_replays r where r.webhook_uuid = s.webhook_uuid) as replays
              from webhook_feed f, webhook_states s where s.webhook_uuid = ${webhook}`
          if (feed!.replays >= maxReplays) return yield* tooManyReplays
          yield* pooled`
            insert into webhook_replays (webhook_uuid, position, until, since)
              select ${webhook}::uuid, ${position}::bigint, ${feed!.position}::bigint, ${time}::timestamptz
              where ${position}::bigint < ${feed!.position}::bigint`
          // What was pruned of the gap cannot be sent.
          yield* pooled`
            update webhook_states s set gap_position = null from event_log log
              where s.webhook_uuid = ${webhook} and greatest(s.gap_position, log.pruned_position) >= ${position}::bigint
                and s.gap_position = ${gap}::bigint and s.from_position = ${from}::bigint and ${left}::int = 0`
        })
        yield* transaction(pooled, write)
        return events
      })

      const replayEvents = Effect.fnUntraced(function* (webhook: WebhookId, ids: ReadonlyArray<string>, check: Check) {
        const write = Effect.gen(function* () {
          yield* lock(webhook, check)
          const [waiting] = yield* pooled<{ readonly events: number }>`
            select count(*)::int as events from webhook_queue where webhook_uuid = ${webhook} and is_replay
              and id > coalesce((select queue_id from webhook_dropped where webhook_uuid = ${webhook}), 0)`
          if (waiting!.events + ids.length > maxWaitingReplayed) return yield* tooManyWaiting
          // The id of an event ends in its position.
          const rows = yield* pooled<{ readonly id: string; readonly isKnown: boolean; readonly isSent: boolean }>`
            with wanted as (
              select id::uuid, ('x' || replace(substr(id, 20), '-', ''))::bit(64)::bigint & 9223372036854775807 as position
                from unnest(${ids}::text[]) id
            ), found as (
              select e.* from wanted join events e using (position) where e.id = wanted.id
            ), queued as (
              insert into webhook_queue (webhook_uuid, position, record_uuid, bytes, is_replay, is_head)
                select w.uuid, f.position, f.record_uuid, f.bytes, true, true from found f, webhooks w
                  where w.uuid = ${webhook} and waypost_selects(w.types, f.type, f.action)
                  order by f.position returning position
            ) select id, exists (select from found f where f.id = w.id) as "isKnown",
                exists (select from queued q where q.position = w.position) as "isSent" from wanted w`
          const unknown = rows.filter(({ isKnown }) => !isKnown)
          if (unknown.length > 0) return yield* unknownEvents(unknown.map(({ id }) => ids.indexOf(id)))
          return rows.filter(({ isSent }) => isSent).length
        })
        return yield* transaction(pooled, write)
      })

      return traced(Deliveries, { list, replayRange, replayEvents })
    })
  )
}

/** Positions that one statement counts. */
const span = 50_000

/** Where a replay begins, and the gap of the webhook: behind the first of these positions, up to the second. */
interface Begin {
  readonly position: number
  readonly gap: number | null
  readonly from: number
}

interface Row extends Place {
  readonly json: Encoded<Delivery>
}

const notActive = (state: string) =>
  InvalidRequestError.at("path", "uuid", "notActive", `The webhook is ${state}; set active to true first`)

const tooManyReplays = InvalidRequestError.inBody(
  "",
  "tooMany",
  `The webhook has ${maxReplays} replays that have not ended; repeat the request when one has`
)

const tooManyWaiting = InvalidRequestError.inBody(
  "eventIds",
  "tooMany",
  `At most ${maxWaitingReplayed} replayed events of a webhook wait; repeat the request when some have been sent, or with fewer ids`
)

const unknownEvents = (indexes: ReadonlyArray<number>) =>
  InvalidRequestError.of(
    indexes.slice(0, 20).map((index) => ({
      in: "body",
      path: `eventIds.${index}`,
      code: "notFound",
      message: "No event of the log has this id"
    }))
  )
