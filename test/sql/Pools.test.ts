import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { connectTimeout } from "../../src/sql/connections/Pools.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { settings } from "../support/TestServer.ts"

const inShare = (id: string, isAlone = false) =>
  Effect.provideService(CurrentShare, { id, weight: 1, isAlone: () => isAlone })

layer(Layer.provide(Postgres.sql, settings()), { excludeTestServices: true })("cheap reads", (it) => {
  it.effect.each([
    ["cheap", false, 16, 0.02],
    ["cheap", true, 256, 0.002],
    ["cheapPage", false, 2, 0.02],
    ["cheapPage", true, 32, 0.02]
  ] as const)(
    "with %s a key that is alone (%s) has %i of them sent, and another key waits for no more",
    ([kind, isAlone, atOnce, seconds]) =>
      Effect.gen(function* () {
        const { [kind]: cheap } = yield* Sql
        let running = 0
        let most = 0
        let finished = 0
        const slow = cheap((client) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              running++
              most = Math.max(most, running)
            }),
            () => client`select pg_sleep(${seconds})`,
            () =>
              Effect.sync(() => {
                running--
                finished++
              })
          )
        )
        const flood = Effect.forEach(Array.from({ length: 1024 }), () => slow, { concurrency: "unbounded" })
        yield* Effect.forkScoped(inShare("flood", isAlone)(flood), { startImmediately: true })
        yield* Effect.sleep("50 millis")
        const before = finished
        yield* inShare("other")(cheap((client) => client`select 1`))
        // Those before it, and as many behind it whose results arrive together with its own.
        assert.isAtMost(finished - before, 2 * atOnce)
        assert.strictEqual(most, atOnce)
      })
  )
})

describe("connections to the database", () => {
  it("a connection has 2 seconds to be opened, or the connect_timeout of its URL", () => {
    const at = (url: string) => connectTimeout({ url: Redacted.make(url) })
    const byDefault = { connectTimeout: "2 seconds" }
    assert.deepStrictEqual(
      [connectTimeout({ path: "/run/pg" }), at("postgres://a:50%25@%2Frun%2Fpg/d?sslmode=require")],
      [byDefault, byDefault]
    )
    // What is given to the driver would count more than its URL.
    assert.deepStrictEqual(at("postgres://c/d?connect_timeout=15"), {})
  })
})
