import { Effect } from "effect"

/** How many items are decoded before other requests run, and for how many milliseconds: one may be as large as a body. */
const maxAtOnce = 64
const maxMillis = 5

/** Decodes many, and lets other requests run in between. */
export const decodeEach = <A, B>(items: ReadonlyArray<A>, decode: (item: A) => B): Effect.Effect<Array<B>> =>
  Effect.suspend(() => {
    let count = 0
    let began = performance.now()
    const yielding = Effect.map(Effect.yieldNow, () => {
      count = 0
      began = performance.now()
    })
    return Effect.forEach(items, (item) =>
      Effect.suspend(() => {
        const decoded = decode(item)
        count++
        return count === maxAtOnce || performance.now() - began > maxMillis
          ? Effect.as(yielding, decoded)
          : Effect.succeed(decoded)
      })
    )
  })
