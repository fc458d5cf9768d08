import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import * as Queues from "../../src/sql/connections/Queues.ts"

/** Puts work into queues that ends once `end` allows it, and notes the order in which it begins. */
const make = Effect.gen(function* () {
  const queue = yield* Queues.make
  const wait = yield* Deferred.make<void>()
  const begun: Array<string> = []
  const enqueue = (share: string, name: string) =>
    queue(
      name,
      Effect.andThen(
        Effect.sync(() => begun.push(`${name} ${share}`)),
        Deferred.await(wait)
      )
    ).pipe(
      Effect.provideService(CurrentShare, { id: share, weight: 1, isAlone: () => false }),
      Effect.forkChild({ startImmediately: true })
    )
  return { begun, enqueue, end: Deferred.succeed(wait, undefined) }
})

describe("queues", () => {
  it.live("the work of a share waits behind one work of each other share, not behind all of it", () =>
    Effect.gen(function* () {
      const { begun, end, enqueue } = yield* make
      const busy = yield* Effect.replicateEffect(enqueue("busy", "one"), 40)
      const calm = yield* enqueue("calm", "one")
      yield* end
      yield* Fiber.joinAll([...busy, calm])
      assert.lengthOf(begun, 41)
      // The first one had begun before the other share came.
      assert.isAtMost(begun.indexOf("one calm"), 2)
    }).pipe(Effect.scoped)
  )

  it.live("work of one name runs one after another, and of another name at once", () =>
    Effect.gen(function* () {
      const { begun, end, enqueue } = yield* make
      const fibers = yield* Effect.all([enqueue("a", "one"), enqueue("b", "one"), enqueue("b", "other")])
      assert.deepStrictEqual(begun, ["one a", "other b"])
      yield* end
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(begun, ["one a", "other b", "one b"])
    }).pipe(Effect.scoped)
  )
})
