import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { withoutNulls } from "../support/requests/StoredNulls.ts"
import { counted } from "../support/Tally.ts"
import { fuzz } from "../support/wire/Fuzzing.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const seed = Number(process.env["FUZZ_SEED"] ?? 20_261_121)

layer(listening(), { excludeTestServices: true })("fuzzed requests", (it) => {
  it.effect(
    "requests generated from the schemas get documented responses and never a 5xx",
    () =>
      Effect.gen(function* () {
        const { fullKey, send } = yield* Wire
        const { count, problems, seen } = yield* fuzz(seed, 4000)
        console.log(`Fuzz: seed ${seed}, ${count} requests, ${counted(seen)}`)
        assert.deepStrictEqual(problems, [], `FUZZ_SEED=${seed}`)
        // Requests that are all rejected early would prove little.
        for (const status of [200, 201, 400, 404]) assert.isAtLeast(seen.get(status) ?? 0, 20, `${status}`)
        assert.strictEqual((yield* send("GET", "/v1/me", { key: fullKey })).status, 200)
      }),
    900_000
  )

  it.effect("no object of a record that fuzzed requests wrote has a null, which answers would repeat", () =>
    Effect.gen(function* () {
      assert.isAtLeast(yield* withoutNulls, 20)
    })
  )
})
