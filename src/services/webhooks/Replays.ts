import { Clock, Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { CurrentChange } from "../../domain/changes/Actor.ts"
import type { Delivery, WebhookTest } from "../../domain/changes/Delivery.ts"
import type { CursorExpiredError } from "../../domain/changes/Errors.ts"
import type { Replay, Replayed, Webhook, WebhookId, WebhookNotFoundError } from "../../domain/changes/Webhook.ts"
import type { CallingKey, MissingPermissionsError } from "../../domain/keys/ApiKey.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { updated, type WrittenWith } from "../../domain/write/Written.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { EventLog } from "../../repositories/changes/EventLog.ts"
import { ApiKeys } from "../../repositories/keys/ApiKeys.ts"
import { Deliveries } from "../../repositories/webhooks/Deliveries.ts"
import type { DeliveryRequest, Place } from "../../repositories/webhooks/DeliveryPages.ts"
import { Webhooks as Repository } from "../../repositories/webhooks/Webhooks.ts"
import { Cursors } from "../changes/Cursors.ts"
import { Sender } from "./Sender.ts"
import { headersOf } from "./Signature.ts"
import { Webhooks } from "./Webhooks.ts"

export interface EncodedDeliveries {
  readonly data: Encoded<ReadonlyArray<Delivery>>
  readonly cursor: string
  readonly more: boolean
}

type Forbidden = WebhookNotFoundError | MissingPermissionsError

/** What was sent to webhooks, and what is sent on request. */
export class Replays extends Context.Service<
  Replays,
  {
    deliveries(
      uuid: WebhookId,
      request: Omit<DeliveryRequest, "after"> & { readonly after?: string | undefined }
    ): Effect.Effect<EncodedDeliveries, WebhookNotFoundError | InvalidRequestError | CursorExpiredError>
    replay(
      uuid: WebhookId,
      replay: Replay,
      precondition: Precondition,
      key: CallingKey
    ): Effect.Effect<WrittenWith<"webhooks", WebhookId, Replayed>, Forbidden | InvalidRequestError | CursorExpiredError>
    /** Sends an event about the webhook itself and waits for the answer. */
    test(uuid: WebhookId, precondition: Precondition, key: CallingKey): Effect.Effect<WebhookTest, Forbidden>
  }
>()("waypost/services/webhooks/Replays") {
  static readonly layer = Layer.effect(
    Replays,
    Effect.gen(function* () {
      const cursors = yield* Cursors
      const deliveries = yield* Deliveries
      const keys = yield* ApiKeys
      const log = yield* EventLog
      const repository = yield* Repository
      const sender = yield* Sender
      const webhooks = yield* Webhooks

      const list = Effect.fn("Replays.deliveries")(function* (
        uuid: WebhookId,
        { after, ...request }: Omit<DeliveryRequest, "after"> & { readonly after?: string | undefined }
      ) {
        const begin = after === undefined || after === "" ? undefined : yield* placeOf(after)
        yield* webhooks.get(uuid)
        const { data, last = begin, more } = yield* deliveries.list(uuid, { ...request, after: begin })
        const cursor =
          last === undefined ? "" : cursors.encode({ position: noPosition, own: { owner, place: textOf(last) } })
        return { data, cursor, more }
      })

      const placeOf = Effect.fnUntraced(function* (cursor: string) {
        const { own } = yield* cursors.decode(cursor, owner)
        const [, at, isPending, id] = /^([^ ]+) (true|false) (\d+)$/.exec(own?.place ?? "") ?? []
        if (at === undefined) return yield* notOfDeliveries
        return { at, isPending: isPending === "true", id: Number(id) }
      })

      const inBody = Effect.mapError((error: InvalidRequestError | CursorExpiredError) =>
        error._tag === "InvalidRequestError"
          ? InvalidRequestError.of(error.issues.map((issue) => ({ ...issue, in: "body" as const })))
          : error
      )

      const replay = Effect.fn("Replays.replay")(function* (
        uuid: WebhookId,
        { after, eventIds, since }: Replay,
        precondition: Precondition,
        key: CallingKey
      ) {
        const range = after === undefined ? undefined : { after: (yield* inBody(cursors.decode(after))).position }
        yield* webhooks.authorized(uuid, key)
        const check = repository.check(uuid, precondition)
        const events = yield* eventIds === undefined
          ? deliveries.replayRange(uuid, range ?? { since: since! }, check)
          : deliveries.replayEvents(uuid, eventIds, check)
        return { ...updated("webhooks", uuid, events > 0), answer: { events } }
      })

      /** The event that a test sends. */
      const eventOf = Effect.fnUntraced(function* (webhook: Webhook, key: CallingKey) {
        const { actor } = yield* CurrentChange
        const name = Option.map(yield* keys.findByUuid(key.uuid), ({ name }) => name)
        const { last: position } = yield* log.retained
        return {
          id: SecureRandom.uuidV7Unsafe(),
          cursor: cursors.encode({ position }),
          type: "webhook.updated",
          occurredAt: DateTime.formatIso(yield* DateTime.now),
          record: { type: "webhook", uuid: webhook.uuid, label: webhook.url },
          actor: { ...actor, name: Option.getOrUndefined(name) },
          changes: []
        }
      })

      const test = Effect.fn("Replays.test")(function* (uuid: WebhookId, precondition: Precondition, key: CallingKey) {
        const webhook = yield* webhooks.authorized(uuid, key)
        yield* repository.check(uuid, precondition)
        const data = yield* eventOf(webhook, key)
        const body = JSON.stringify({ type: data.type, timestamp: data.occurredAt, data, test: true })
        const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const headers = headersOf({ id: data.id, seconds, body }, yield* repository.secrets(uuid))
        const { millis, ...sent } = yield* sender.send({ url: webhook.url, headers, body })
        return { request: { headers: { ...sender.headers, ...headers }, body }, ...sent, durationMs: millis }
      })

      return Replays.of({ deliveries: list, replay, test })
    })
  )
}

/** A cursor of deliveries stands at no event, and pruning the log does not end it. */
const noPosition = Number.MAX_SAFE_INTEGER

/** Cursors of deliveries belong to them alone. */
const owner = "deliveries"

const textOf = ({ at, id, isPending }: Place) => `${at} ${isPending} ${id}`

const notOfDeliveries = InvalidRequestError.at(
  "query",
  "after",
  "invalidFormat",
  "Expected the `cursor` of an earlier answer about deliveries, or nothing to begin with the newest"
)
