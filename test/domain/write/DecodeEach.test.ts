import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { decodeEach } from "../../../src/domain/write/DecodeEach.ts"

/** How often other work of the process ran while items were decoded. */
const turnsDuring = (items: number, decode: (item: number) => number) =>
  Effect.gen(function* () {
    let turns = 0
    let isDone = false
    const other = () => {
      turns++
      if (!isDone) setImmediate(other)
    }
    setImmediate(other)
    const decoded = yield* decodeEach(
      Array.from({ length: items }, (_, index) => index),
      decode
    )
    isDone = true
    assert.deepStrictEqual(
      decoded,
      Array.from({ length: items }, (_, index) => index * 2)
    )
    return turns
  })

it.live("other requests run after 64 items are decoded", () =>
  Effect.map(
    turnsDuring(640, (item) => item * 2),
    (turns) => assert.isAtLeast(turns, 9)
  )
)

it.live("other requests run after each item that takes long to decode", () =>
  Effect.map(
    turnsDuring(5, (item) => {
      const end = performance.now() + 10
      while (performance.now() < end);
      return item * 2
    }),
    (turns) => assert.isAtLeast(turns, 4)
  )
)
