import { Clock, Context, Effect, Layer, Random, Result } from "effect"
import { recordTypes, type RecordType } from "../../domain/changes/RecordType.ts"
import type { StoredEvent } from "../../repositories/changes/EventLog.ts"
import type { Outcome, Taken } from "../../repositories/webhooks/DeliveryQueue.ts"
import { Events } from "../changes/Events.ts"
import { isSuccess, Sender } from "./Sender.ts"
import { headersOf } from "./Signature.ts"

/** Seconds from each failed attempt to the next. */
const delays = [5, 30, 120, 600, 3600, 3 * 3600, 8 * 3600, 24 * 3600]

/** How much a delay is lengthened or shortened by chance, so that receivers are not called all at once. */
const jitter = 0.2

/** A key that creates a webhook may read everything that the webhook receives. */
const visible: ReadonlySet<RecordType> = new Set(recordTypes)

/** What becomes of a delivery after another failed attempt. */
const failed = (attempts: number) =>
  Effect.map(Random.nextBetween(1 - jitter, 1 + jitter), (factor) => {
    const delay = delays[attempts]
    return delay === undefined
      ? { state: "givenUp" as const, retry: 0 }
      : { state: "failed" as const, retry: delay * factor }
  })

/** An attempt, and when it began by `performance.now()`, which no correction of the clock changes. */
export interface Attempt extends Omit<Outcome, "age"> {
  readonly began: number
}

/** What is sent of an event. */
interface Message {
  readonly eventId: string
  readonly eventType: string
  readonly body: string
}

const namesOf = ({ action, id, type }: StoredEvent) => ({ eventId: id, eventType: `${type}.${action}` })

/** Sends events to webhooks. */
export class Deliverer extends Context.Service<Deliverer, { deliver(taken: Taken): Effect.Effect<Attempt> }>()(
  "waypost/services/webhooks/Deliverer"
) {
  static readonly layer = Layer.effect(
    Deliverer,
    Effect.gen(function* () {
      const events = yield* Events
      const sender = yield* Sender

      const attempt = Effect.fn("Deliverer.deliver")(function* (
        { attempts, id, secrets, url, webhook }: Omit<Taken, "event">,
        message: Message | undefined
      ) {
        const began = performance.now()
        const made = { id, webhook, url, attempt: attempts + 1, began }
        if (message === undefined) return { ...made, state: "givenUp" as const, millis: 0, retry: 0 }
        const { body, ...event } = message
        const headers = headersOf(
          { id: event.eventId, seconds: Math.floor((yield* Clock.currentTimeMillis) / 1000), body },
          secrets
        )
        const { answer: _, ...sent } = yield* sender.send({ url, headers, body })
        const isDelivered = sent.status !== undefined && isSuccess(sent.status)
        return {
          ...made,
          ...sent,
          ...event,
          ...(isDelivered ? { state: "delivered" as const, retry: 0 } : yield* failed(attempts))
        }
      })

      /** The text is made before the attempt, which lasts: values can have 16 MiB, and the text has little more than 1 MiB. */
      const messageOf = (event: StoredEvent | null) =>
        Result.try((): Message | undefined => {
          const data = event === null ? undefined : events.encode(event, visible)
          if (event === null || data === undefined) return undefined
          const names = namesOf(event)
          return { ...names, body: `{"type":"${names.eventType}","timestamp":"${event.occurredAt}","data":${data}}` }
        })

      /**
       * An event that cannot be sent does not hold up the others of its record for ever. No function in here uses the event, which
       * would keep it in memory until the attempt has ended.
       */
      const deliver = ({ event, ...taken }: Taken) => {
        const names = event === null ? {} : namesOf(event)
        const message = messageOf(event)
        const made = Result.isFailure(message) ? Effect.die(message.failure) : attempt(taken, message.success)
        return Effect.catchDefect(made, (defect) =>
          Effect.gen(function* () {
            yield* Effect.logError("Could not deliver an event to a webhook", defect)
            const { attempts, id, url, webhook } = taken
            return {
              id,
              webhook,
              url,
              attempt: attempts + 1,
              began: performance.now(),
              millis: 0,
              ...names,
              error: "The service could not send the event",
              ...(yield* failed(attempts))
            }
          })
        )
      }
      return Deliverer.of({ deliver })
    })
  )
}
