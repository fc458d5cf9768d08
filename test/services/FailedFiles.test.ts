import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as FailedFiles from "../../src/services/FailedFiles.ts"

describe("a file whose rendering failed", () => {
  it.effect("a file that failed is rendered again after a minute, also if the clock was set back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_800_000_000_000)
      const { add, isRecent } = FailedFiles.make()
      assert.isFalse(yield* isRecent("file"))
      yield* add("file")
      yield* TestClock.setTime(1_700_000_000_000)
      yield* TestClock.adjust("59 seconds")
      assert.isTrue(yield* isRecent("file"))
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* isRecent("file"))
    })
  )
})
