import { Context, Effect, Layer } from "effect"
import type { WebhookId } from "../../domain/changes/Webhook.ts"
import { sql } from "../../sql/Fragment.ts"
import { makeStep, removeInParts } from "../../sql/Parts.ts"
import { Sql } from "../../sql/Sql.ts"
import { sandbox } from "../../sql/SqlErrors.ts"
import { transaction } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"
import type { StoredEvent } from "../changes/EventLog.ts"
import { members } from "../changes/EventPages.ts"
import { signing } from "./Webhooks.ts"

/** A delivery that this process makes now. */
export interface Taken {
  readonly id: number
  readonly webhook: WebhookId
  readonly url: string
  /** The secrets that sign it, in base64. */
  readonly secrets: ReadonlyArray<string>
  /** The attempts before. */
  readonly attempts: number
  /** None if the event was pruned, or is of no type that the webhook receives now. */
  readonly event: StoredEvent | null
}

/** An attempt that was made. */
export interface Outcome {
  readonly id: number
  readonly webhook: WebhookId
  /** Where it was sent. */
  readonly url: string
  /** None if there was nothing to send. */
  readonly eventId?: string
  readonly eventType?: string
  readonly attempt: number
  readonly state: "delivered" | "failed" | "givenUp"
  readonly status?: number
  readonly error?: string
  readonly millis: number
  /** Seconds until the next attempt. */
  readonly retry: number
  /** Milliseconds since its begin. */
  readonly age: number
}

/** What is due at all webhooks. */
export interface Backlog {
  /** At most 10,000 of each webhook are counted. */
  readonly due: number
  readonly oldestSeconds: number
}

/** For how many milliseconds an attempt may last. */
export const AttemptLimit = Context.Reference<number>("waypost/repositories/webhooks/DeliveryQueue/AttemptLimit", {
  defaultValue: () => 10_000
})

/** How much longer than an attempt a process has to finish what it took, before that is due again. */
const leaseFactor = 3

/** Positions of the log that one statement reads at most, so that none runs long. */
const batch = 2000

/** The queue of deliveries, which several processes share. It has a connection of its own. */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Also true until what a deleted webhook had is removed. */
    readonly hasWebhooks: Effect.Effect<boolean>
    /** Adds the events that were sealed since the last time, and removes a part of those that were dropped. */
    readonly fill: Effect.Effect<void>
    /** Takes what is due; no other process takes it for 30 seconds. */
    readonly take: Effect.Effect<ReadonlyArray<Taken>>
    finish(outcomes: ReadonlyArray<Outcome>): Effect.Effect<void>
    /** Gives back what was taken and not finished. */
    release(ids: ReadonlyArray<number>): Effect.Effect<void>
    readonly backlog: Effect.Effect<Backlog>
    /** Removes attempts of more than 30 days ago. */
    readonly prune: Effect.Effect<void>
  }
>()("waypost/repositories/webhooks/DeliveryQueue") {
  static readonly layer = Layer.effect(
    DeliveryQueue,
    Effect.gen(function* () {
      const { deliveries: client, lookups, pooled } = yield* Sql
      const lease = `${leaseFactor * (yield* AttemptLimit)} milliseconds`
      const run = <A, E>(statement: Effect.Effect<A, E>) => transaction(client, statement)
      // What is due is sent between two steps, also if they take too long.
      const { run: runStep } = makeStep(batch)

      const hasWebhooks = Effect.map(
        Effect.orDie(lookups<{ readonly some: boolean }>`
          select exists (select from webhooks) or exists (select from webhook_dropped) as some`),
        ([row]) => row!.some
      )
      const fill = runStep((size) => sandbox(run(client`select waypost_queue_deliveries(${size}::int)`)))
      // Two statements, because the function sees what was committed after the first has begun: events among it would be missing.
      // Until the end of the transaction no webhook that it read from changes.
      const take = run(
        Effect.flatMap(
          client<{ readonly id: number }>`select id::float8 as id from waypost_take_deliveries(${lease}::interval)`,
          (taken) =>
            taken.length === 0
              ? Effect.succeed([])
              : client<Taken>`
                  select q.id::float8 as id, q.webhook_uuid as webhook, w.url, ${signing(sql`w.uuid`)} as secrets, q.attempts,
                      (select row_to_json(stored) from (
                        select ${members} from events e
                          where e.position = q.position and waypost_selects(w.types, e.type, e.action)
                      ) stored) as event
                    from webhook_queue q join webhooks w on w.uuid = q.webhook_uuid
                    where q.id = any (${taken.map(({ id }) => id)}::bigint[])`
        )
      )
      const backlog = Effect.map(
        Effect.orDie(client<Backlog>`
          select coalesce(sum(waiting.count), 0)::float8 as due,
              greatest(coalesce(extract(epoch from now() - min(waiting.oldest)), 0), 0)::float8 as "oldestSeconds"
            from webhooks w, lateral (
              select count(*) as count, min(due_at) as oldest from (
                select due_at from webhook_queue q where q.webhook_uuid = w.uuid and q.is_head and q.due_at <= now()
                  order by due_at limit 10000
              ) due
            ) waiting where not exists (select from webhook_dropped d where d.webhook_uuid = w.uuid)`),
        ([row]) => row!
      )
      // The connection of the deliveries is opened for the first webhook.
      const prune = removeInParts(
        (limit) => pooled`
          delete from webhook_deliveries where id in (
            select id from webhook_deliveries where at < now() - interval '30 days' order by at limit ${limit}::int
          ) returning id`
      )

      return traced(DeliveryQueue, {
        hasWebhooks,
        fill: Effect.asVoid(Effect.orDie(fill)),
        take,
        finish: (outcomes) =>
          Effect.asVoid(run(client`select waypost_finish_deliveries(${JSON.stringify(outcomes)}::jsonb)`)),
        release: (ids) =>
          Effect.asVoid(
            run(client`
              update webhook_queue set taken_until = null, due_at = now()
                where id = any (${ids}::bigint[]) and taken_until is not null`)
          ),
        backlog,
        prune: Effect.orDie(prune)
      })
    })
  )
}
