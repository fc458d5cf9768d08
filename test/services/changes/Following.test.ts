import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import type { Event } from "../../../src/domain/changes/Event.ts"
import { ApiKeyId } from "../../../src/domain/keys/ApiKey.ts"
import { CurrentShare, firstShare, type Share } from "../../../src/domain/keys/Share.ts"
import { encodedOf } from "../../../src/domain/schema/Encoded.ts"
import { EventLog } from "../../../src/repositories/changes/EventLog.ts"
import { ChangeFeed, type Follower } from "../../../src/services/changes/ChangeFeed.ts"
import { Cursors } from "../../../src/services/changes/Cursors.ts"
import { Events } from "../../../src/services/changes/Events.ts"
import { Following } from "../../../src/services/changes/Following.ts"
import { KeyEnds } from "../../../src/services/KeyEnds.ts"
import { monotonicMillis } from "../../../src/services/MonotonicTime.ts"
import { storedEvent } from "../../support/changes/StoredEvents.ts"

const key = {
  uuid: ApiKeyId.make("0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e32"),
  share: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e32",
  permissions: new Set(["read:locations"] as const)
}

/** A log of ten events, of which memory has none but those behind a position. */
const following = (memory: { start: number }, wait: Follower["wait"]) => {
  const log = Array.from({ length: 10 }, (_, index) => storedEvent({ position: index + 1 }))
  const behind = (position: number) => log.filter((event) => event.position > position)
  return Following.layer.pipe(
    Layer.provide([
      Layer.mock(EventLog, {
        page: ({ after = 0, limit }) => {
          const events = behind(after).slice(0, limit)
          const position = events.at(-1)?.position ?? after
          return Effect.succeed({ events, position, more: position < 10 })
        }
      }),
      Layer.mock(ChangeFeed, {
        follow: Effect.succeed({
          after: (position: number) => (position < memory.start ? undefined : behind(position)),
          wait,
          wake: () => {}
        })
      }),
      Layer.mock(KeyEnds, { watch: () => Effect.void }),
      Layer.mock(Events, { encode: () => encodedOf<Event>({}) }),
      Layer.mock(Cursors, { encode: ({ position }) => String(position) })
    ])
  )
}

/** A reader from the beginning of the log, and the memory that it reads. */
const reading = (start: number, wait: Follower["wait"] = () => Effect.void) => {
  const memory = { start }
  const reader = Effect.flatMap(Following, ({ follow }) => follow({ key, position: 0, selection: {}, onEnd: () => {} }))
  return Effect.map(Effect.provide(reader, following(memory, wait)), (reader) => ({ memory, reader }))
}

describe("a reader that follows the log", () => {
  it.effect("a reader that follows the log has more events while some are behind its cursor, in memory or not", () =>
    Effect.gen(function* () {
      for (const start of [0, 8, 11]) {
        const { reader } = yield* reading(start)
        for (const [events, cursor, hasMore] of [
          [4, "4", true],
          [6, "10", false]
        ] as const) {
          assert.strictEqual((yield* reader.next(0, { events, bytes: 1024 })).length, events)
          assert.deepStrictEqual([reader.cursor(), reader.hasMore()], [cursor, hasMore], `from ${start}`)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.effect("a reader that follows the log has more events when memory drops those behind its cursor", () =>
    Effect.gen(function* () {
      const { memory, reader } = yield* reading(0)
      yield* reader.next(0, { events: 4, bytes: 1024 })
      memory.start = 8
      assert.isTrue(reader.hasMore())
    }).pipe(Effect.scoped)
  )

  it.effect("waits for no longer than it is asked to although the clock is set back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_800_000_000_000)
      const waits: Array<number> = []
      const wait = (_: number, millis: number) =>
        Effect.suspend(() => {
          waits.push(millis)
          return Effect.andThen(TestClock.adjust("400 millis"), TestClock.setTime(1_700_000_000_000))
        })
      const { reader } = yield* reading(0, wait)
      yield* reader.next(0, { events: 10, bytes: 1024 })
      const until = (yield* monotonicMillis) + 1000
      assert.deepStrictEqual(yield* reader.next(until, { events: 10, bytes: 1024 }), [])
      assert.deepStrictEqual(waits, [1000, 600, 200])
    }).pipe(Effect.scoped)
  )
})

describe("the end of the log in memory", () => {
  it.effect("the end of the log is read anew for the next follower after the last one left while it was read", () =>
    Effect.gen(function* () {
      const ends = yield* Queue.unbounded<number>()
      const reading = yield* Queue.unbounded<void>()
      const read: Array<number> = []
      const log = Layer.mock(EventLog, {
        retained: Effect.andThen(
          Queue.offer(reading, undefined),
          Effect.map(Queue.take(ends), (last) => ({ last, pruned: 0 }))
        ),
        read: ({ after = 0 }) => {
          read.push(after)
          return Effect.succeed({ events: [], position: after, more: false })
        }
      })
      yield* Effect.gen(function* () {
        const { follow } = yield* ChangeFeed
        yield* Effect.scoped(Effect.andThen(follow, Queue.take(reading)))
        yield* Queue.offerAll(ends, [10, 1000])
        yield* TestClock.adjust("1 second")
        yield* follow
        yield* TestClock.adjust("1 second")
        assert.include(read, 1000)
        assert.notInclude(read, 10)
      }).pipe(Effect.provide(Layer.provide(ChangeFeed.layer, log)))
    }).pipe(Effect.scoped)
  )
})

describe("the feed of changes", () => {
  it.effect("the end of the log is read in the share of the work that all keys wait for", () =>
    Effect.gen(function* () {
      const shares = yield* Queue.unbounded<Share>()
      const noted = Effect.flatMap(CurrentShare, (share) => Queue.offer(shares, share))
      const log = Layer.mock(EventLog, {
        retained: Effect.as(noted, { last: 1, pruned: 0 }),
        read: () => Effect.as(noted, { events: [], position: 1, more: false })
      })
      yield* Effect.gen(function* () {
        yield* Effect.flatMap(ChangeFeed, ({ follow }) => follow)
        assert.strictEqual(yield* Queue.take(shares), firstShare)
        yield* TestClock.adjust("100 millis")
        assert.strictEqual(yield* Queue.take(shares), firstShare)
      }).pipe(Effect.scoped, Effect.provide(Layer.provide(ChangeFeed.layer, log)))
    })
  )
})
