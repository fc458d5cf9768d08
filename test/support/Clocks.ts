import { type Clock, Effect } from "effect"

/** A clock whose time of day is corrected by a number of milliseconds, at each reading. */
export const corrected = (clock: Clock.Clock, correction: () => number): Clock.Clock => {
  const now = () => clock.currentTimeMillisUnsafe() + correction()
  const nanos = () => BigInt(now()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}
