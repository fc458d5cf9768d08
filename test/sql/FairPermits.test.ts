import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Deferred, Effect, Exit, Fiber } from "effect"
import { CurrentShare, firstShare } from "../../src/domain/keys/Share.ts"
import { RateLimitExceededError } from "../../src/domain/write/RequestErrors.ts"
import * as FairPermits from "../../src/sql/connections/FairPermits.ts"

const shareOf = (id: string, weight = 1, isAlone = () => false) => ({ id, weight, isAlone })

/** Work that holds a permit of a share until it is ended, and whether it has begun. */
const worker = Effect.fnUntraced(function* (
  withPermit: ReturnType<typeof FairPermits.make>,
  share: ReturnType<typeof shareOf>,
  options?: { readonly isLong?: boolean; readonly isBrief?: boolean }
) {
  const end = yield* Deferred.make<void>()
  let hasBegun = false
  const work = Effect.andThen(
    Effect.sync(() => (hasBegun = true)),
    Deferred.await(end)
  )
  const fiber = yield* Effect.forkChild(withPermit(work, options).pipe(Effect.provideService(CurrentShare, share)), {
    startImmediately: true
  })
  const finish = Effect.andThen(Deferred.succeed(end, undefined), Fiber.await(fiber))
  return { hasBegun: () => hasBegun, finish, fiber }
})

const make = (permits: number, maxShare = 0.75) =>
  FairPermits.make({ permits, maxShare, maxLong: 2, maxWait: "1 minute" })

describe("permits divided between shares", () => {
  it.live("a share holds its part of the permits, and the rest is free for others", () =>
    Effect.gen(function* () {
      const withPermit = make(4)
      const first = yield* Effect.replicateEffect(worker(withPermit, shareOf("a")), 4)
      assert.deepStrictEqual(
        first.map(({ hasBegun }) => hasBegun()),
        [true, true, true, false]
      )
      const other = yield* worker(withPermit, shareOf("b"))
      assert.isTrue(other.hasBegun())
    })
  )

  it.live("brief work of a share that is alone holds every permit, until another share comes", () =>
    Effect.gen(function* () {
      const withPermit = make(4)
      let isAlone = true
      const share = shareOf("a", 1, () => isAlone)
      const alone = yield* Effect.replicateEffect(worker(withPermit, share, { isBrief: true }), 5)
      assert.deepStrictEqual(
        alone.map(({ hasBegun }) => hasBegun()),
        [true, true, true, true, false]
      )
      isAlone = false
      const other = yield* worker(withPermit, shareOf("b"))
      assert.isFalse(other.hasBegun())
      yield* alone[0]!.finish
      assert.isTrue(other.hasBegun())
      yield* alone[1]!.finish
      assert.isFalse(alone[4]!.hasBegun())
      yield* other.finish
      assert.isTrue(alone[4]!.hasBegun())
    })
  )

  it.live("brief work of a share with a smaller weight does not hold every permit", () =>
    Effect.gen(function* () {
      const withPermit = make(4)
      const share = shareOf("a", 0.5, () => true)
      const begun = yield* Effect.replicateEffect(worker(withPermit, share, { isBrief: true }), 3)
      assert.deepStrictEqual(
        begun.map(({ hasBegun }) => hasBegun()),
        [true, true, false]
      )
    })
  )

  it.live("a free permit goes to the share that holds the fewest", () =>
    Effect.gen(function* () {
      const withPermit = make(4, 1)
      const first = yield* Effect.replicateEffect(worker(withPermit, shareOf("a")), 4)
      const waiting = yield* worker(withPermit, shareOf("a"))
      const other = yield* worker(withPermit, shareOf("b"))
      yield* first[0]!.finish
      assert.deepStrictEqual([waiting.hasBegun(), other.hasBegun()], [false, true])
      yield* first[1]!.finish
      assert.isTrue(waiting.hasBegun())
    })
  )

  it.live("work that all keys wait for has the next permit before twenty keys that wait, and again after it", () =>
    Effect.gen(function* () {
      const withPermit = make(4)
      const keys = Arr.makeBy(20, (index) => shareOf(`key ${index}`))
      const begun = yield* Effect.forEach([...keys, ...keys], (share) => worker(withPermit, share))
      for (const holder of begun.slice(0, 2)) {
        const first = yield* worker(withPermit, firstShare)
        assert.isFalse(first.hasBegun())
        yield* holder.finish
        assert.isTrue(first.hasBegun())
        const next = yield* worker(withPermit, firstShare)
        yield* first.finish
        assert.isTrue(next.hasBegun())
        yield* next.finish
      }
    })
  )

  it.live("work that all keys wait for waits for its permit without a time limit", () =>
    Effect.gen(function* () {
      const withPermit = FairPermits.make({ permits: 1, maxShare: 1, maxLong: 2, maxWait: "20 millis" })
      const holder = yield* worker(withPermit, shareOf("a"))
      const first = yield* worker(withPermit, firstShare)
      // Waits that begin later have all of the possible times.
      const late = yield* Effect.replicateEffect(worker(withPermit, shareOf("b")), 16)
      for (const { fiber } of late) assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
      yield* holder.finish
      assert.isTrue(first.hasBegun())
      yield* first.finish
    })
  )

  it.live("a weight changes the part of a share", () =>
    Effect.gen(function* () {
      const withPermit = make(10, 0.4)
      const light = yield* Effect.replicateEffect(worker(withPermit, shareOf("a", 0.5)), 4)
      assert.lengthOf(
        light.filter(({ hasBegun }) => hasBegun()),
        2
      )
      const heavy = yield* Effect.replicateEffect(worker(withPermit, shareOf("b", 1.5)), 8)
      assert.isAbove(heavy.filter(({ hasBegun }) => hasBegun()).length, 1)
    })
  )

  it.live("long work of a share that is not alone holds two permits, and ends with RateLimitExceededError", () =>
    Effect.gen(function* () {
      const withPermit = make(8)
      const long = yield* Effect.replicateEffect(worker(withPermit, shareOf("a"), { isLong: true }), 3)
      assert.deepStrictEqual(
        long.map(({ hasBegun }) => hasBegun()),
        [true, true, false]
      )
      const exit = yield* Fiber.await(long[0]!.fiber)
      assert.isTrue(Exit.isFailure(exit))
      assert.include(JSON.stringify(exit), "RateLimitExceededError")
    })
  )

  it.live("long work of a share that is alone takes its whole part", () =>
    Effect.gen(function* () {
      const withPermit = make(4)
      const long = yield* Effect.replicateEffect(
        worker(
          withPermit,
          shareOf("a", 1, () => true),
          { isLong: true }
        ),
        3
      )
      assert.lengthOf(
        long.filter(({ hasBegun }) => hasBegun()),
        3
      )
    })
  )

  it.live("work that waits too long for its share ends with RateLimitExceededError", () =>
    Effect.gen(function* () {
      const withPermit = FairPermits.make({ permits: 1, maxShare: 1, maxLong: 2, maxWait: "50 millis" })
      yield* worker(withPermit, shareOf("a"))
      const late = yield* worker(withPermit, shareOf("a"))
      const exit = yield* Fiber.await(late.fiber)
      assert.include(JSON.stringify(exit), "RateLimitExceededError")
      assert.isFalse(late.hasBegun())
    })
  )

  it.live("work that waits too long ends with the error of these permits", () =>
    Effect.gen(function* () {
      const overShare = new RateLimitExceededError({ message: "Too many lookups", retryAfterSeconds: 1 })
      const withPermit = FairPermits.make({ permits: 1, maxShare: 1, maxLong: 1, maxWait: "50 millis", overShare })
      yield* worker(withPermit, shareOf("a"))
      const late = yield* worker(withPermit, shareOf("a"))
      assert.include(JSON.stringify(yield* Fiber.await(late.fiber)), "Too many lookups")
    })
  )

  it.live("a permit that rests after its use is taken until then", () =>
    Effect.gen(function* () {
      const withPermit = FairPermits.make({ permits: 1, maxShare: 1, maxLong: 1, maxWait: "1 minute", restMillis: 50 })
      const first = yield* worker(withPermit, shareOf("a"))
      const ended = performance.now()
      yield* first.finish
      const next = yield* worker(withPermit, shareOf("a"))
      yield* next.finish
      assert.isTrue(next.hasBegun())
      assert.isAtLeast(performance.now() - ended, 49)
    })
  )

  it.live("interrupted waiting takes no permit", () =>
    Effect.gen(function* () {
      const withPermit = make(1, 1)
      const first = yield* worker(withPermit, shareOf("a"))
      const second = yield* worker(withPermit, shareOf("b"))
      yield* Fiber.interrupt(second.fiber)
      yield* first.finish
      const third = yield* worker(withPermit, shareOf("c"))
      assert.isTrue(third.hasBegun())
    })
  )
})
