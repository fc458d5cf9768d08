import { Effect, Schedule } from "effect"
import { setTimeout as sleep } from "node:timers/promises"

/** Polls `condition` until it is true or returns a value; fails after `seconds`. */
export const until = async <A>(
  what: string,
  condition: () => Promise<A | undefined | false> | A | undefined | false,
  seconds = 60
) => {
  for (const began = performance.now(); performance.now() - began < seconds * 1000; await sleep(10)) {
    const found = await condition()
    if (found !== undefined && found !== false) return found
  }
  throw new Error(`Timed out after ${seconds} seconds waiting until ${what}`)
}

/** Repeats an effect until its value satisfies the condition, and returns that value; dies after a minute. */
export const eventually = <A, E, R>(what: string, ask: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  Effect.repeat(ask, { until: holds, schedule: Schedule.spaced("20 millis") }).pipe(
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => Effect.die(new Error(`Timed out after 60 seconds waiting until ${what}`))
    })
  )

/** Runs a measurement of time up to three times until it passes, because other processes can delay it. */
export const atBest = <A, E, R>(measure: Effect.Effect<A, E, R>) =>
  measure.pipe(
    Effect.catchDefect(() => measure),
    Effect.catchDefect(() => measure)
  )

/** As `atBest`, for a promise. */
export const promiseAtBest = (measure: () => Promise<void>) => Effect.runPromise(atBest(Effect.promise(measure)))
