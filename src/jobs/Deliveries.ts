import { Effect, FiberMap, Layer, Metric, Option, Queue } from "effect"
import { DeliveryQueue, type Taken } from "../repositories/webhooks/DeliveryQueue.ts"
import { cachedForASecond } from "../services/CachedForASecond.ts"
import { type Attempt, Deliverer } from "../services/webhooks/Deliverer.ts"
import { logged, repeatedly, repeatedlyFromStart } from "./Repeated.ts"

/** How often new events are looked for. */
const interval = "100 millis"

/** Attempts that end within this time are recorded together. */
const together = "10 millis"

/** How long a stop waits for attempts. */
const patience = "2 seconds"

const attempts = Metric.counter("waypost_webhook_deliveries_total", {
  description: "Attempts to deliver an event to a webhook, by outcome",
  incremental: true
})
const due = Metric.gauge("waypost_webhook_deliveries_due", { description: "Deliveries that are due in the database" })
const oldest = Metric.gauge("waypost_webhook_oldest_due_seconds", {
  description: "Since when the oldest of them is due"
})

const outcomes: ReadonlyArray<Attempt["state"]> = ["delivered", "failed", "givenUp"]

/** Counts attempts. */
const count = (outcome: Attempt["state"], number: number) =>
  Metric.update(Metric.withAttributes(attempts, { outcome }), number)

/** Delivers events: one loop records what ended and takes what is due, and each delivery runs by itself. */
const deliver = Effect.fnUntraced(function* <R>(stopping: Effect.Effect<void, never, R>) {
  const queue = yield* DeliveryQueue
  const deliverer = yield* Deliverer
  const ended = yield* Queue.unbounded<Attempt>()
  let unrecorded: ReadonlyArray<Attempt> = []
  // A series that begins with its first attempt would hide that one from `increase`.
  yield* Effect.forEach(outcomes, (outcome) => count(outcome, 0), { discard: true })

  const record = Effect.gen(function* () {
    unrecorded = [...unrecorded, ...(yield* Queue.clear(ended))]
    if (unrecorded.length === 0) return
    const now = performance.now()
    yield* queue.finish(unrecorded.map(({ began, ...attempt }) => ({ ...attempt, age: now - began })))
    unrecorded = []
  })

  const running = yield* FiberMap.make<number>()
  const end = Effect.gen(function* () {
    yield* Effect.timeoutOption(FiberMap.awaitEmpty(running), patience)
    const open = Array.from(running, ([id]) => id)
    yield* FiberMap.clear(running)
    yield* record
    if (open.length > 0) yield* queue.release(open)
  }).pipe(Effect.timeoutOption("5 seconds"), Effect.ignoreCause)

  const start = (taken: Taken) =>
    FiberMap.run(
      running,
      taken.id,
      Effect.flatMap(deliverer.deliver(taken), (made) =>
        // Without an event there was no attempt.
        Effect.andThen(count(made.state, made.eventId === undefined ? 0 : 1), Queue.offer(ended, made))
      )
    )

  const cycle = Effect.gen(function* () {
    // What is in the queue is delivered also while no attempt can be recorded, or nothing can be added to it.
    const recorded = yield* Effect.exit(record)
    const filled = yield* Effect.exit(queue.fill)
    yield* Effect.forEach(yield* queue.take, start, { discard: true })
    yield* recorded
    yield* filled
    const first = yield* Effect.timeoutOption(Queue.peek(ended), interval)
    if (Option.isSome(first)) yield* Effect.sleep(together)
  })

  // Without webhooks there is nothing to look for.
  const hasWebhooks = yield* cachedForASecond(queue.hasWebhooks)
  const whenNeeded = Effect.flatMap(hasWebhooks, (some) => (some ? cycle : Effect.sleep("1 second")))
  const delivering = Effect.forever(logged("Could not deliver events to webhooks", whenNeeded))
  yield* Effect.forkScoped(Effect.ensuring(Effect.raceFirst(delivering, stopping), end))

  const measure = Effect.gen(function* () {
    const backlog = (yield* hasWebhooks) ? yield* queue.backlog : { due: 0, oldestSeconds: 0 }
    yield* Metric.update(due, backlog.due)
    yield* Metric.update(oldest, backlog.oldestSeconds)
  })
  yield* repeatedlyFromStart("Could not count what is due at webhooks", "15 seconds", measure)
  yield* repeatedly("Could not remove old attempts of webhooks", "1 hour", queue.prune)
})

/**
 * Delivers the events of the log to webhooks while the service runs; several processes share the work. It stops once `stopping` has
 * ended: a stop that first waits for requests, and then for receivers, would take longer than it may.
 */
export const layer = <R>(stopping: Effect.Effect<void, never, R>) => Layer.effectDiscard(deliver(stopping))
