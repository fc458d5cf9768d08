import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Comparison from "../../support/bulk/Comparison.ts"
import { make as makePair } from "../../support/bulk/Pair.ts"
import { randomOf } from "../../support/Random.ts"

const seed = Number(process.env["BULK_SEED"] ?? 16)
const operations = Number(process.env["BULK_OPERATIONS"] ?? 300)

it.live(
  "random operations in bulk have the answers, the records, the totals and the events that they have one by one",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { differences, step, tally } = Comparison.make(yield* makePair, randomOf(seed), 25)
        while (tally.operations < operations) assert.deepStrictEqual(yield* step, [])
        assert.deepStrictEqual(yield* differences, [])
      })
    )
)
