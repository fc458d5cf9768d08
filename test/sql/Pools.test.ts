import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { settings } from "../support/TestServer.ts"

const inShare = (id: string, isAlone = false) =>
  Effect.provideService(CurrentShare, { id, weight: 1, isAlone: () => isAlone })

layer(Layer.provide(Postgres.sql, settings()), { excludeTestServices: true })("cheap reads", (it) => {
  it.effect.each([
    ["cheap", false, 16],
    ["cheapPage", false, 2],
    ["cheapPage", true, 32]
  ] as const)(
    "with %s a key that is alone (%s) has %i of them sent, and another key waits for no more",
    ([kind, isAlone, atOnce]) =>
      Effect.gen(function* () {
        const { [kind]: cheap } = yield* Sql
        let running = 0
        let most = 0
        const slow = cheap((client) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              running++
              most = Math.max(most, running)
            }),
            () => client`select pg_sleep(0.02)`,
            () => Effect.sync(() => running--)
          )
        )
        const flood = Effect.forEach(Array.from({ length: 384 }), () => slow, { concurrency: "unbounded" })
        yield* Effect.forkScoped(inShare("flood", isAlone)(flood), { startImmediately: true })
        yield* Effect.sleep("50 millis")
        const began = performance.now()
        yield* inShare("other")(cheap((client) => client`select 1`))
        // Those of the flood alone take four seconds.
        assert.isBelow(performance.now() - began, 1500)
        assert.strictEqual(most, atOnce)
      })
  )
})
