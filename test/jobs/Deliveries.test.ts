import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Queue } from "effect"
import { WebhookId } from "../../src/domain/changes/Webhook.ts"
import * as Deliveries from "../../src/jobs/Deliveries.ts"
import { DeliveryQueue, type Taken } from "../../src/repositories/webhooks/DeliveryQueue.ts"
import { Deliverer } from "../../src/services/webhooks/Deliverer.ts"

const webhook = WebhookId.make("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30")
const waiting = (id: number): Taken => ({
  id,
  webhook,
  url: "https://example.com",
  secrets: [],
  attempts: 0,
  event: null
})

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
        deliver: ({ id }) =>
          Effect.as(Queue.offer(delivered, id), {
            id,
            webhook,
            attempt: 1,
            began: 0,
            state: "delivered",
            millis: 0,
            retry: 0
          })
      })
      const job = Deliveries.layer.pipe(
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
})
