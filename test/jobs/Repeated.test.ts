import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { repeatedly, repeatedlyFromStart } from "../../src/jobs/Repeated.ts"

it.effect(
  "a job begins within its pause, or within five seconds of the start of the process if its pause is longer",
  () =>
    Effect.gen(function* () {
      const runs = { often: 0, rarely: 0, atOnce: 0 }
      const counted = (name: keyof typeof runs) => Effect.sync(() => runs[name]++)
      yield* repeatedly("Failed", "1 second", counted("often"))
      yield* repeatedly("Failed", "1 hour", counted("rarely"))
      yield* repeatedlyFromStart("Failed", "1 hour", counted("atOnce"))
      yield* Effect.yieldNow
      assert.deepStrictEqual(runs, { often: 0, rarely: 0, atOnce: 1 })
      yield* TestClock.adjust("1 second")
      assert.isAtLeast(runs.often, 1)
      yield* TestClock.adjust("4 seconds")
      assert.isAbove(runs.often, 2)
      assert.deepStrictEqual([runs.rarely, runs.atOnce], [1, 1])
      yield* TestClock.adjust("2 hours")
      assert.isAtLeast(runs.rarely, 2)
    })
)
