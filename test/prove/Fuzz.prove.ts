import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { counted } from "../support/Tally.ts"
import { fuzz } from "../support/wire/Fuzzing.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"
import { report } from "../support/proofs/Figures.ts"
import { count, violations } from "../support/proofs/Invariants.ts"
import { inspected } from "./Consistency.ts"

const seeds = [1, 2, 3, 4, 5]
const each = 4000

/** Runs one seed on its own service and database, and checks both afterwards. */
const run = Effect.fnUntraced(function* (seed: number) {
  const { fullKey, send } = yield* Wire
  const outcome = yield* fuzz(seed, each)
  assert.strictEqual((yield* send("GET", "/v1/me", { key: fullKey })).status, 200)
  const { objects, query } = yield* inspected
  const broken = yield* Effect.promise(() => violations(query, objects))
  return { ...outcome, broken, invariants: yield* Effect.promise(() => count(query)) }
})

describe("fuzzed requests", () => {
  it.live(
    "20,000 requests generated from the schemas get documented responses and never a 5xx",
    (ctx) =>
      Effect.gen(function* () {
        const outcomes = yield* Effect.forEach(seeds, (seed) => Effect.provide(run(seed), listening()))
        const times = (from: number, to: number) =>
          outcomes
            .flatMap(({ seen }) => [...seen])
            .reduce((sum, [status, times]) => sum + (status >= from && status < to ? times : 0), 0)
        const problems = outcomes.flatMap(({ problems }, index) =>
          problems.map((problem) => `Seed ${seeds[index]}: ${problem}`)
        )
        const broken = outcomes.flatMap(({ broken }) => broken)
        for (const [index, { seen }] of outcomes.entries()) console.log(`Seed ${seeds[index]}: ${counted(seen)}`)
        yield* Effect.promise(() =>
          report(ctx, {
            requests: times(0, 600),
            "2xx": times(200, 300),
            "4xx": times(400, 500),
            "5xx": times(500, 600),
            "undocumented responses": problems.length,
            [`of ${outcomes.reduce((sum, { invariants }) => sum + invariants, 0)} invariants broken`]: broken.length
          })
        )
        assert.deepStrictEqual(problems, [])
        assert.deepStrictEqual(broken, [])
        assert.strictEqual(times(0, 600), seeds.length * each)
        assert.strictEqual(times(500, 600), 0)
        // Requests that are all rejected early would prove little.
        assert.isAtLeast(times(200, 300), (seeds.length * each) / 10)
      }),
    280_000
  )
})
