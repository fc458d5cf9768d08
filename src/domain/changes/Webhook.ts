import { Schema } from "effect"
import { ApiKeyId } from "../keys/ApiKey.ts"
import type { Permission } from "../keys/Permission.ts"
import { signed } from "../query/FilterFields.ts"
import { distinct } from "../schema/Distinct.ts"
import { text, Timestamp, Uuid, WebUrl } from "../schema/Fields.ts"
import { openWords } from "../schema/OpenWords.ts"
import { overlapSeconds } from "../keys/OverlapSeconds.ts"
import { Count } from "../schema/WholeNumber.ts"
import { ApiError } from "../write/ApiError.ts"
import { readOnly } from "../write/Markers.ts"
import { notFound, notFoundError } from "../write/NotFound.ts"
import * as Shape from "../write/Shape.ts"
import { EventId } from "./Event.ts"
import { selectedBy, TypePattern } from "./EventType.ts"
import { readPermissions, type RecordType, recordTypeOf, relations } from "./RecordType.ts"

export const WebhookId = Uuid.pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

/** How many webhooks an installation has at most. */
export const maxWebhooks = 50

/** How many replays of a webhook, after a cursor or since a time, are at work at most. */
export const maxReplays = 10

/** How many replayed events of a webhook wait at most when more are sent by their ids. */
export const maxWaitingReplayed = 10_000

const Types = distinct(TypePattern, 50, "types")
  .check(Schema.isMinLength(1, { expected: "at least one type", code: "tooShort" }))
  .pipe(
    Schema.annotateEncoded({
      description: "The types of events that are sent: `location.updated`, `location.*`, `*.deleted` or `*`.",
      examples: [["location.*", "user.deleted"]]
    })
  )

/** A receiver of events, without its secrets. */
export const Webhook = Schema.Struct({
  uuid: readOnly(WebhookId),
  url: WebUrl.pipe(Schema.annotateEncoded({ description: "Where events are sent, with POST." })),
  types: Types,
  description: Schema.optionalKey(text(500, { multiline: true })),
  state: readOnly(
    openWords(["active", "paused", "failing"]).annotate({
      description:
        "`active`, `paused` by a request, by status 410 of the receiver, by `waypost restore` or because the key that created it or last changed `url`, `types` or `active` was revoked, or `failing` after five days of failures. Later releases may add words."
    })
  ),
  createdBy: Schema.optionalKey(readOnly(ApiKeyId)).pipe(
    Schema.annotateEncoded({ description: "The API key that created it." })
  ),
  resumeCursor: readOnly(
    Schema.String.annotate({
      [signed]: true,
      description: "The position before the oldest event that was neither delivered nor given up, for `replay`."
    })
  ),
  lastSuccessAt: Schema.optionalKey(readOnly(Timestamp)),
  lastFailureAt: Schema.optionalKey(readOnly(Timestamp)),
  failuresInARow: readOnly(Count.annotate({ description: "Failed attempts since the last success." })),
  secretRotatedAt: Schema.optionalKey(readOnly(Timestamp)),
  createdAt: readOnly(Timestamp),
  editedAt: readOnly(Timestamp)
}).annotate({ identifier: "Webhook" })
export type Webhook = typeof Webhook.Type

/** What changes about a webhook while events are delivered. */
export const passing = [
  "resumeCursor",
  "lastSuccessAt",
  "lastFailureAt",
  "failuresInARow"
] as const satisfies ReadonlyArray<keyof Webhook>

const active = (description: string) => Schema.optionalKey(Schema.Boolean.annotate({ description }))

export const WebhookCreate = Schema.Struct({
  ...Shape.create(Webhook).fields,
  types: Types,
  active: active("Whether events are sent from the start; true unless given.")
}).annotate({ identifier: "WebhookCreate" })
export type WebhookCreate = typeof WebhookCreate.Type

export const PartialWebhook = Schema.Struct({
  ...Shape.patch(Webhook).fields,
  types: Schema.optionalKey(Types),
  active: active("`false` pauses the webhook and drops what is pending; `true` ends `paused` and `failing`.")
}).annotate({ identifier: "PartialWebhook" })
export type PartialWebhook = typeof PartialWebhook.Type

const secret = Schema.String.annotate({
  description: "The secret that signs deliveries. It is shown this once.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
})

/** The answer to creating a webhook. */
export const WebhookCreated = Schema.Struct({ uuid: WebhookId, secret }).annotate({ identifier: "WebhookCreated" })
export type WebhookCreated = typeof WebhookCreated.Type

export const SecretRotate = Schema.Struct({
  overlapSeconds: overlapSeconds("How long the old secret signs in addition to the new one.")
}).annotate({ identifier: "SecretRotate" })
export type SecretRotate = typeof SecretRotate.Type

/** The answer to rotating a secret. */
export const SecretRotated = Schema.Struct({ secret }).annotate({ identifier: "SecretRotated" })
export type SecretRotated = typeof SecretRotated.Type

const members = ["after", "since", "eventIds"] as const

export const Replay = Schema.Struct({
  after: Schema.optionalKey(
    Schema.String.annotate({ description: "A cursor: every later event is sent, such as after `resumeCursor`." })
  ),
  since: Schema.optionalKey(
    Timestamp.pipe(Schema.annotateEncoded({ description: "Every event that occurred since then is sent." }))
  ),
  eventIds: Schema.optionalKey(distinct(EventId, 1000, "ids")).pipe(
    Schema.annotateEncoded({ description: "These events are sent." })
  )
})
  .check(
    Schema.makeFilter<Readonly<Partial<Record<(typeof members)[number], unknown>>>>(
      (replay) => members.filter((member) => replay[member] !== undefined).length === 1,
      { expected: "exactly one of after, since and eventIds", code: "invalid" }
    )
  )
  .annotate({ identifier: "Replay" })
export type Replay = typeof Replay.Type

export const Replayed = Schema.Struct({
  events: Count.annotate({ description: "How many events are sent." })
}).annotate({ identifier: "Replayed" })
export type Replayed = typeof Replayed.Type

export class WebhookNotFoundError extends ApiError<WebhookNotFoundError>()(...notFoundError("WebhookNotFoundError")) {
  static of = (uuid: string) => new WebhookNotFoundError(notFound("webhook", uuid))
}

export const sortable = ["url", "state", "createdAt", "editedAt"] as const

/** The types of record on both sides of relations. */
const related: ReadonlyArray<RecordType> = Object.values(relations)

/** The permissions to read everything that a webhook of these types receives. */
export const receives = (types: ReadonlyArray<string>): ReadonlyArray<Permission> => {
  const selected = new Set(types.flatMap(selectedBy).flatMap((type) => recordTypeOf(type) ?? []))
  const seen = related.some((type) => selected.has(type)) ? new Set([...selected, ...related]) : selected
  return [...new Set([...seen].map((type) => readPermissions[type]))]
}
