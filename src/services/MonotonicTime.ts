import { Clock, Effect } from "effect"

/** Milliseconds since an unknown time, which no correction of the clock changes. */
export const monotonicMillisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** Milliseconds since an unknown time, which no correction of the clock changes. */
export const monotonicMillis: Effect.Effect<number> = Clock.clockWith((clock) =>
  Effect.succeed(monotonicMillisOf(clock))
)
