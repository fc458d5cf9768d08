import { Effect } from "effect"
import { Settings } from "../settings/Config.ts"

/** How long a process that serves may take to stop, in seconds after `DRAIN_SECONDS`: requests get 20 of them. */
export const servingSeconds = 22

/** When a worker is killed that should have ended by itself. */
export const workerSeconds = servingSeconds + 3

/** How long a process with workers may take: they end first, then the database. */
export const supervisingSeconds = workerSeconds + 5

/** The seconds of a stop, the time included in which the port stays open. */
export const afterDraining = (seconds: number) => Effect.map(Settings, ({ DRAIN_SECONDS }) => DRAIN_SECONDS + seconds)

/**
 * Ends the process when something hangs that should have ended, so many seconds after `DRAIN_SECONDS`; the database and
 * the files are safe with that. The time begins when the effect is told to stop, whatever it is doing.
 */
export const within =
  (seconds: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const most = yield* afterDraining(seconds)
      const giveUp = () => {
        process.stderr.write(`Not everything has ended within ${most} seconds; the process ends all the same\n`)
        process.exit(1)
      }
      const told = Effect.onInterrupt(Effect.never, () =>
        Effect.sync(() => void setTimeout(giveUp, most * 1000).unref())
      )
      return yield* Effect.raceFirst(effect, told)
    })
