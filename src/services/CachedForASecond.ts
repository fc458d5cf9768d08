import { Duration, Effect } from "effect"

/** Uses the result of an effect for a second, which no correction of the clock makes longer. Concurrent callers share a run. */
export const cachedForASecond = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let until = Infinity
    const dated = () => {
      until = performance.now() + 1000
      return Duration.infinity
    }
    return Effect.map(Effect.cachedInvalidateWithTTL(effect, dated), ([cached, invalidate]) =>
      Effect.suspend(() => {
        if (performance.now() < until) return cached
        until = Infinity
        return Effect.andThen(invalidate, cached)
      })
    )
  })
