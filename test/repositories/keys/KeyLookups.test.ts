import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { CurrentShare } from "../../../src/domain/keys/Share.ts"
import { ApiKeys } from "../../../src/repositories/keys/ApiKeys.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"

const services = ApiKeys.layer.pipe(Layer.provideMerge(Postgres.sql), Layer.provide(settings()))

layer(services, { excludeTestServices: true })("lookups of keys", (it) => {
  it.effect("the lookup of one client does not wait behind many of another, and a known key waits behind neither", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { pooled } = yield* Sql
      const ended: Array<string> = []
      const lookup = (client: string, find: Effect.Effect<unknown>) =>
        find.pipe(
          Effect.andThen(Effect.sync(() => ended.push(client))),
          Effect.provideService(CurrentShare, { id: client, weight: 1, isAlone: () => true }),
          Effect.forkChild({ startImmediately: true })
        )
      // Lookups begin while the table is locked, so that all of them wait at once.
      const isLocked = yield* Deferred.make<void>()
      const unlock = yield* Deferred.make<void>()
      const lock = pooled`lock table api_keys in access exclusive mode`.pipe(
        Effect.andThen(Deferred.succeed(isLocked, undefined)),
        Effect.andThen(Deferred.await(unlock)),
        pooled.withTransaction,
        Effect.orDie
      )
      const locked = yield* Effect.forkChild(lock)
      yield* Deferred.await(isLocked)
      const fibers = yield* Effect.forEach(Array.from({ length: 40 }), (_, index) =>
        lookup("busy", keys.findNewById(`id ${index}`))
      )
      fibers.push(yield* lookup("calm", keys.findNewById("another")))
      fibers.push(yield* lookup("known", keys.findById("known")))
      yield* Deferred.succeed(unlock, undefined)
      yield* Fiber.joinAll([locked, ...fibers])
      assert.lengthOf(ended, 42)
      assert.isBelow(ended.indexOf("known"), 10)
      assert.isBelow(ended.indexOf("calm"), 10)
    })
  )
})
