import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Comparison from "../support/bulk/Comparison.ts"
import { make as makePair } from "../support/bulk/Pair.ts"
import { report } from "../support/proofs/Figures.ts"
import { randomOf } from "../support/Random.ts"

const seed = Number(process.env["BULK_SEED"] ?? 20_261_122)
const operations = Number(process.env["BULK_OPERATIONS"] ?? 20_000)

it.live(
  "random operations of all resources in bulk have the answers, the records, the totals and the events that they have one by one",
  (ctx) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { compared, differences, statuses, step, tally } = Comparison.make(yield* makePair, randomOf(seed), 200)
        const found: Array<string> = []
        for (let next = 1000; found.length === 0 && tally.operations < operations;) {
          found.push(...(yield* step))
          if (tally.operations < next) continue
          next += 1000
          found.push(...(yield* differences))
        }
        if (found.length === 0) found.push(...(yield* differences))
        yield* Effect.promise(() =>
          report(ctx, {
            operations: tally.operations,
            "bulk requests": tally.requests,
            "atomic, applied": tally.applied,
            "atomic, undone": tally.undone,
            validated: tally.validated,
            repeated: tally.repeated,
            ...Object.fromEntries(Object.entries(statuses).map(([status, count]) => [`status ${status}`, count])),
            "records compared": compared.records,
            "events compared": compared.events,
            differences: found.length,
            seed: String(seed)
          })
        )
        assert.deepStrictEqual(found.slice(0, 5), [])
        assert.isAbove(tally.applied, 0)
        assert.isAbove(tally.undone, 0)
        assert.isAbove((statuses[200] ?? 0) + (statuses[201] ?? 0), operations / 3)
      })
    ),
  1_200_000
)
