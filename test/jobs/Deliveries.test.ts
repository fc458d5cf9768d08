import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Layer, Logger, Queue } from "effect"
import type { Event } from "../../src/domain/changes/Event.ts"
import { WebhookId } from "../../src/domain/changes/Webhook.ts"
import * as Deliveries from "../../src/jobs/Deliveries.ts"
import { encodedOf } from "../../src/domain/schema/Encoded.ts"
import { DeliveryQueue, type Outcome, type Taken } from "../../src/repositories/webhooks/DeliveryQueue.ts"
import { Events } from "../../src/services/changes/Events.ts"
import { Deliverer } from "../../src/services/webhooks/Deliverer.ts"
import { Egress, EgressError } from "../../src/services/webhooks/Egress.ts"
import { Sender } from "../../src/services/webhooks/Sender.ts"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { storedEvent } from "../support/changes/StoredEvents.ts"
import { corrected } from "../support/Clocks.ts"
import { eventually } from "../support/Until.ts"

const webhook = WebhookId.make("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30")
const waiting = (id: number): Taken => ({
  id,
  webhook,
  url: "https://example.com",
  secrets: [],
  attempts: 0,
  event: null
})

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

describe("the job of deliveries", () => {
  it.live("delivers what waits while nothing can be added to the queue, and logs why", () =>
    Effect.gen(function* () {
      const delivered = yield* Queue.unbounded<number>()
      const lines: Array<string> = []
      let taken = 0
      const queue = DeliveryQueue.of({
        hasWebhooks: Effect.succeed(true),
        fill: Effect.die(new Error("The queue cannot be filled")),
        take: Effect.sync(() => [waiting(++taken)]),
        finish: () => Effect.void,
        release: () => Effect.void,
        backlog: Effect.succeed({ due: 0, oldestSeconds: 0 }),
        prune: Effect.void
      })
      const deliverer = Deliverer.of({
        deliver: ({ id, url }) =>
          Effect.as(Queue.offer(delivered, id), {
            id,
            webhook,
            url,
            attempt: 1,
            began: 0,
            state: "delivered",
            millis: 0,
            retry: 0
          })
      })
      const job = Deliveries.layer(Effect.never).pipe(
        Layer.provide([Layer.succeed(DeliveryQueue, queue), Layer.succeed(Deliverer, deliverer)]),
        Layer.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))]))
      )
      yield* Effect.gen(function* () {
        yield* Layer.build(job)
        assert.deepStrictEqual([yield* Queue.take(delivered), yield* Queue.take(delivered)], [1, 2])
      }).pipe(Effect.scoped)
      assert.match(lines.join(), /Could not deliver events to webhooks.*The queue cannot be filled/)
    })
  )

  it.live("gives back what receivers do not answer once the service stops, and takes nothing more", () =>
    Effect.gen(function* () {
      const isStopping = yield* Deferred.make<void>()
      const sent = yield* Queue.unbounded<number>()
      const released = yield* Queue.unbounded<ReadonlyArray<number>>()
      let taken = 0
      const queue = Layer.mock(DeliveryQueue, {
        hasWebhooks: Effect.succeed(true),
        fill: Effect.void,
        take: Effect.sync(() => [waiting(++taken)]),
        finish: () => Effect.void,
        release: (ids) => Effect.asVoid(Queue.offer(released, ids)),
        backlog: Effect.succeed({ due: 0, oldestSeconds: 0 }),
        prune: Effect.void
      })
      const deliverer = Layer.mock(Deliverer, {
        deliver: ({ id }) => Effect.andThen(Queue.offer(sent, id), Effect.never)
      })
      const job = Deliveries.layer(Deferred.await(isStopping)).pipe(Layer.provide([queue, deliverer]))
      yield* Effect.gen(function* () {
        yield* Layer.build(job)
        const first = yield* Queue.take(sent)
        yield* Deferred.succeed(isStopping, undefined)
        assert.include(yield* Queue.take(released), first)
        const before = taken
        yield* Effect.sleep("300 millis")
        assert.strictEqual(taken, before)
      }).pipe(Effect.scoped)
    })
  )

  it.live("records when an attempt began and how long it took, also when the clock is corrected during it", () =>
    Effect.gen(function* () {
      const finished = yield* Queue.unbounded<Outcome>()
      let correction = 0
      const clock = corrected(yield* Clock.Clock, () => correction)
      const queue = Layer.mock(DeliveryQueue, {
        hasWebhooks: Effect.succeed(true),
        fill: Effect.void,
        take: Effect.sync(() => (correction === 0 ? [{ ...waiting(1), event: storedEvent() }] : [])),
        finish: (outcomes) => Queue.offerAll(finished, outcomes),
        release: () => Effect.void,
        backlog: Effect.succeed({ due: 0, oldestSeconds: 0 }),
        prune: Effect.void
      })
      const egress = Layer.succeed(Egress, {
        target: () =>
          Effect.suspend(() => {
            correction = 30 * 86_400_000
            return Effect.fail(new EgressError({ message: "has an unknown host", isTransient: false }))
          })
      })
      const events = Layer.mock(Events, { encode: () => encodedOf<Event>({}) })
      const job = Deliveries.layer(Effect.never).pipe(
        Layer.provide(Deliverer.layer),
        Layer.provide(Sender.layer),
        Layer.provide([queue, egress, events])
      )
      yield* Effect.gen(function* () {
        yield* Layer.build(job)
        const { age, millis, state } = yield* Queue.take(finished)
        assert.strictEqual(state, "failed")
        assert.isTrue(Number.isInteger(millis))
        for (const time of [age, millis]) assert.isTrue(time >= 0 && time < 3_600_000, String(time))
      }).pipe(Effect.scoped, Effect.provideService(Clock.Clock, clock))
    })
  )

  it.live("values of an event are in memory until its text is made, and not until the receiver answers", () =>
    Effect.gen(function* () {
      const values: Array<WeakRef<object>> = []
      let isSending = false
      const queue = Layer.mock(DeliveryQueue, {
        hasWebhooks: Effect.succeed(true),
        fill: Effect.void,
        take: Effect.sync(() => {
          if (values.length > 0) return []
          const after = { name: "Branch" }
          values.push(new WeakRef(after))
          return [{ ...waiting(1), event: storedEvent({ after }) }]
        }),
        finish: () => Effect.void,
        release: () => Effect.void,
        backlog: Effect.succeed({ due: 0, oldestSeconds: 0 }),
        prune: Effect.void
      })
      const sender = Layer.mock(Sender, {
        headers: {},
        send: () =>
          Effect.suspend(() => {
            isSending = true
            return Effect.never
          })
      })
      const events = Layer.mock(Events, { encode: () => encodedOf<Event>({}) })
      const job = Deliveries.layer(Effect.never).pipe(
        Layer.provide(Deliverer.layer),
        Layer.provide([queue, sender, events])
      )
      yield* Effect.gen(function* () {
        yield* Layer.build(job)
        yield* eventually(
          "the values are collected",
          Effect.sync(() => {
            collectGarbage()
            return isSending && values[0]?.deref() === undefined
          }),
          (isCollected) => isCollected
        )
      }).pipe(Effect.scoped)
    })
  )
})
