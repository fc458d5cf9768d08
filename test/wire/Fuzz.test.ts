import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { counted } from "../support/Tally.ts"
import { fuzz } from "../support/wire/Fuzzing.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const seed = Number(process.env["FUZZ_SEED"] ?? 20_261_121)

layer(listening(), { excludeTestServices: true })("Whatever is sent", (it) => {
  it.effect(
    "the answer is a declared one in the envelope, and never a failure of the service",
    () =>
      Effect.gen(function* () {
        const { fullKey, send } = yield* Wire
        const { count, problems, seen } = yield* fuzz(seed, 4000, 25)
        console.log(`Fuzz: seed ${seed}, ${count} requests, ${counted(seen)}`)
        assert.deepStrictEqual(problems, [], `FUZZ_SEED=${seed}`)
        assert.isAtLeast(count, 2000)
        // It would prove little if everything were refused at the door.
        for (const status of [200, 201, 400, 404]) assert.isAtLeast(seen.get(status) ?? 0, 20, `${status}`)
        assert.strictEqual((yield* send("GET", "/v1/me", { key: fullKey })).status, 200)
      }),
    60_000
  )
})
