import { Schema } from "effect"
import { Timestamp } from "../schema/Fields.ts"
import { openWords } from "../schema/OpenWords.ts"
import { Count } from "../schema/WholeNumber.ts"
import { EventId } from "./Event.ts"
import { EventType } from "./EventType.ts"

export const deliveryStates = ["pending", "delivered", "failed", "givenUp"] as const

const status = Schema.Int.annotate({ description: "The status that the receiver answered." })
const error = Schema.String.annotate({ description: "Why there is no success." })

/** An attempt to deliver an event, or a first one that is pending. */
export const Delivery = Schema.Struct({
  eventId: EventId,
  eventType: EventType,
  attempt: Count,
  state: openWords(deliveryStates).annotate({
    description: "`failed` attempts are repeated. Later releases may add words."
  }),
  status: Schema.optionalKey(status),
  error: Schema.optionalKey(error),
  durationMs: Schema.optionalKey(Count),
  at: Timestamp,
  nextAttemptAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "Delivery" })
export type Delivery = typeof Delivery.Type

/** What a test sent, and what came back. */
export const WebhookTest = Schema.Struct({
  request: Schema.Struct({ headers: Schema.Record(Schema.String, Schema.String), body: Schema.String }),
  status: Schema.optionalKey(status),
  answer: Schema.optionalKey(
    Schema.String.annotate({ description: "The first 1 KiB of the answer; not from private addresses." })
  ),
  error: Schema.optionalKey(error),
  durationMs: Count
}).annotate({ identifier: "WebhookTest" })
export type WebhookTest = typeof WebhookTest.Type
