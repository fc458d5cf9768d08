import { Effect, Schedule } from "effect"
import { setTimeout as sleep } from "node:timers/promises"

// The longer something takes, the longer the pauses: each question is a request, a statement or a command.
const [firstPause, longestPause, growth] = [10, 50, 1.2]

/** In seconds: less than the time limit of a test, so that a failure says what it waited for. */
const longest = 240

/** Polls `condition` until it is true or returns a value; fails after `seconds`, which are many for a busy machine. */
export const until = async <A>(
  what: string,
  condition: () => Promise<A | undefined | false> | A | undefined | false,
  seconds = longest
) => {
  const began = performance.now()
  for (let pause = firstPause; ; pause = Math.min(pause * growth, longestPause)) {
    // Asks once more after that time: when a process was suspended, what it waits for may just have happened.
    const isLate = performance.now() - began >= seconds * 1000
    const found = await condition()
    if (found !== undefined && found !== false) return found
    if (isLate) throw new Error(`Timed out after ${seconds} seconds waiting until ${what}`)
    await sleep(pause)
  }
}

/** Repeats an effect until its value satisfies the condition, and returns that value; dies after as long as `until`. */
export const eventually = <A, E, R>(what: string, ask: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  Effect.repeat(ask, {
    until: holds,
    schedule: Schedule.min([Schedule.exponential(firstPause, growth), Schedule.spaced(longestPause)])
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${longest} seconds`,
      orElse: () => Effect.die(new Error(`Timed out after ${longest} seconds waiting until ${what}`))
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
