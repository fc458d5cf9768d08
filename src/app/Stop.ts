import { Effect } from "effect"
import { Settings } from "../settings/Config.ts"

/** Time limit for stopping a serving process, in seconds after `DRAIN_SECONDS`; requests in flight get 20 of them. */
export const servingSeconds = 22

/** Time limit after which the supervisor kills a worker. */
export const workerSeconds = servingSeconds + 3

/** Time limit for stopping the supervisor: its workers end first, then the database. */
export const supervisingSeconds = workerSeconds + 5

/** The time limit including `DRAIN_SECONDS`, during which the port stays open. */
export const afterDraining = (seconds: number) => Effect.map(Settings, ({ DRAIN_SECONDS }) => DRAIN_SECONDS + seconds)

/**
 * Exits the process when stopping takes longer than `seconds` after `DRAIN_SECONDS`; the database and the files survive
 * that. The time starts when the effect is interrupted.
 */
export const withStopTimeout =
  (seconds: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const limit = yield* afterDraining(seconds)
      const exit = () => {
        process.stderr.write(`Shutdown timed out after ${limit} seconds; exiting anyway\n`)
        process.exit(1)
      }
      const startTimer = Effect.onInterrupt(Effect.never, () =>
        Effect.sync(() => void setTimeout(exit, limit * 1000).unref())
      )
      return yield* Effect.raceFirst(effect, startTimer)
    })
