import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, MutableRef } from "effect"
import { TestClock } from "effect/testing"
import { delayRejection } from "../../../src/http/transport/InFlight.ts"

const make = () => {
  const waiting = MutableRef.make(0)
  return { waiting, reject: delayRejection(waiting, () => "rejected") }
}

describe("the delay of a rejection", () => {
  it.effect("counts each rejection that waits, and none that was made", () =>
    Effect.gen(function* () {
      const { reject, waiting } = make()
      assert.strictEqual(MutableRef.get(waiting), 0)
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(reject, { startImmediately: true }))
      assert.strictEqual(MutableRef.get(waiting), 3)
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(yield* Fiber.joinAll(fibers), ["rejected", "rejected", "rejected"])
      assert.strictEqual(MutableRef.get(waiting), 0)
    })
  )

  it.effect("the delay of a rejection does not count a rejection whose client hung up", () =>
    Effect.gen(function* () {
      const { reject, waiting } = make()
      const fiber = yield* Effect.forkChild(reject, { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(MutableRef.get(waiting), 0)
    })
  )
})
