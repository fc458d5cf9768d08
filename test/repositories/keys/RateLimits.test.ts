import { assert, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import * as RateLimits from "../../../src/repositories/keys/RateLimits.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"

const { RateLimiterStore } = RateLimiter

const storeOf = <R>(from: Layer.Layer<RateLimiter.RateLimiterStore, never, R>) =>
  Effect.provide(
    Effect.map(RateLimiterStore, (store) => store),
    Layer.fresh(from)
  )

/** Two stores, as in two processes. */
const two = Effect.all([storeOf(RateLimits.layer), storeOf(RateLimits.layer)])

const hour = 3_600_000

/** Runs an effect as if an hour had passed in this process. */
const anHourLater = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Clock.clockWith((clock) => {
    const now = () => clock.currentTimeMillisUnsafe() + hour
    const later = { currentTimeMillisUnsafe: now, currentTimeMillis: Effect.sync(now) }
    return Effect.provideService(effect, Clock.Clock, Object.assign(Object.create(clock) as Clock.Clock, later))
  })

let keys = 0
const ask = (over: Partial<Parameters<RateLimiter.RateLimiterStore["Service"]["tokenBucket"]>[0]> = {}) => ({
  key: `key-${keys}`,
  tokens: 1,
  limit: 3,
  refillRate: Duration.hours(1),
  allowOverflow: false,
  ...over
})

/** Lets hours pass for the current bucket in the database. */
const passed = (hours: number) =>
  Effect.flatMap(
    Sql,
    ({ pooled }) =>
      pooled`update rate_limits set refilled_at = refilled_at - ${hours}::float8 * ${hour} where key = ${ask().key}`
  )

layer(Postgres.sql.pipe(Layer.provideMerge(settings({ RATE_LIMIT_PER_SECOND: "1" }))), { excludeTestServices: true })(
  "token buckets in PostgreSQL",
  (it) => {
    it.effect("two processes that take tokens concurrently share a bucket and never exceed it", () =>
      Effect.gen(function* () {
        const stores = yield* two
        keys++
        const asked = Array.from({ length: 60 }, (_, index) => stores[index % 2]!.tokenBucket(ask({ limit: 10 })))
        const answers = yield* Effect.all(asked, { concurrency: "unbounded" })
        const given = answers.map(([remaining]) => remaining).filter((remaining) => remaining >= 0)
        assert.deepStrictEqual(
          given.toSorted((a, b) => a - b),
          Array.from({ length: 10 }, (_, index) => index)
        )
        for (const [remaining, elapsed] of answers) {
          assert.isAtLeast(remaining, -1)
          assert.isAtLeast(elapsed, 0)
          assert.isBelow(elapsed, hour)
        }
      })
    )

    it.effect("buckets grant, reject and overflow as the in-memory store does", () =>
      Effect.gen(function* () {
        const [ours] = yield* two
        const theirs = yield* storeOf(RateLimiter.layerStoreMemory)
        for (const overflow of [[false], [true], [false, true, false]]) {
          keys++
          for (const [index, tokens] of [1, 2, 0.5, 1, 3, 1, 0.25, 2, 1].entries()) {
            const options = ask({ tokens, allowOverflow: overflow[index % overflow.length]! })
            const [mine] = yield* ours.tokenBucket(options)
            const [expected] = yield* theirs.tokenBucket(options)
            assert.strictEqual(mine, expected, `${JSON.stringify(overflow)} ${index}`)
          }
        }
        keys++
        assert.deepStrictEqual(yield* ours.tokenBucket(ask({ tokens: 4 })), [-1, 0])
        assert.deepStrictEqual(yield* theirs.tokenBucket(ask({ tokens: 4 })), [-1, 0])
        assert.strictEqual((yield* ours.tokenBucket(ask({ tokens: 3 })))[0], 0)
      })
    )

    it.effect("buckets refill by whole intervals up to the limit and keep the remainder", () =>
      Effect.gen(function* () {
        const [store, other] = yield* two
        keys++
        const take = Effect.map(other.tokenBucket(ask()), ([remaining, elapsed]) => [
          remaining,
          Math.round((elapsed / hour) * 10) / 10
        ])
        yield* store.tokenBucket(ask({ tokens: 3 }))
        yield* passed(1.5)
        assert.deepStrictEqual(yield* take, [0, 0.5])
        yield* passed(1.7)
        // Half an interval remains of the first 1.5: 2.2 hours are two tokens.
        assert.deepStrictEqual(yield* take, [1, 0.2])
        yield* passed(100)
        assert.deepStrictEqual(yield* take, [2, 0])
        yield* passed(-5)
        assert.deepStrictEqual(yield* take, [1, 0])
      })
    )

    it.effect("an empty bucket refills after one interval although the clock of the database was set back", () =>
      Effect.gen(function* () {
        const [store, other] = yield* two
        keys++
        yield* store.tokenBucket(ask({ tokens: 3 }))
        yield* passed(-5)
        assert.deepStrictEqual(yield* other.tokenBucket(ask({ tokens: 0 })), [0, 0])
        yield* passed(1)
        assert.strictEqual((yield* other.tokenBucket(ask()))[0], 0)
      })
    )

    it.effect("an empty bucket is cached and sends no statement until its next refill", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [store] = yield* two
        keys++
        const options = ask({ limit: 1 })
        const askedAt = Effect.map(
          pooled<{ readonly at: number }>`select asked_at as at from rate_limits where key = ${options.key}`,
          ([row]) => row!.at
        )
        yield* store.tokenBucket(options)
        const [refused] = yield* store.tokenBucket(options)
        const at = yield* askedAt
        const again = yield* Effect.replicateEffect(store.tokenBucket(options), 20)
        assert.deepStrictEqual([...new Set([refused, ...again.map(([remaining]) => remaining)])], [-1])
        assert.strictEqual(yield* askedAt, at)
        yield* passed(1)
        assert.strictEqual((yield* store.tokenBucket(options))[0], -1)
        assert.strictEqual((yield* anHourLater(store.tokenBucket(options)))[0], 0)
      })
    )
  }
)
