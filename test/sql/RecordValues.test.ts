import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { uuidsV7 } from "../../src/sql/RecordValues.ts"

/** The clock of the test stands still until it is adjusted. */
const several = Effect.map(Effect.forEach([1, 1, 1000, 3, 1000, 1, 2000, 4096, 1, 500], uuidsV7), (lists) =>
  lists.flat()
)

describe("The uuids of new records", () => {
  it.effect("increase in the order in which they are made, also within a millisecond and past its 4,096 places", () =>
    Effect.gen(function* () {
      const first = yield* several
      yield* TestClock.adjust("1 millis")
      const uuids = [...first, ...(yield* several)]
      assert.strictEqual(new Set(uuids).size, uuids.length)
      assert.deepStrictEqual(uuids.toSorted(), uuids)
      for (const uuid of uuids)
        assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    })
  )

  it.effect("uuids have the time of a clock that was set back by more than a second", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_900_000_000_000)
      const [later] = yield* uuidsV7(1)
      yield* TestClock.setTime(1_800_000_000_000)
      const [sooner] = yield* uuidsV7(1)
      assert.deepStrictEqual(
        [later, sooner].map((uuid) => Number.parseInt(uuid!.replace("-", "").slice(0, 12), 16)),
        [1_900_000_000_000, 1_800_000_000_000]
      )
    })
  )
})
