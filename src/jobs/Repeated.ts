import { Duration, Effect, Random, Schedule } from "effect"

/** Logs a failure, and waits a second after it, so that the log has one warning a second of a job while no database answers. */
export const logged = <A, E, R>(failed: string, run: Effect.Effect<A, E, R>) =>
  Effect.catchCause(run, (cause) => Effect.andThen(Effect.logWarning(failed, cause), Effect.sleep("1 second")))

/** Within what time of the start of a process its jobs begin. */
const maxDelay = Duration.seconds(5)

/**
 * Runs an effect first after a random part of the pause of its job, of five seconds at most. Jobs that all began at the start of a
 * process would take most connections from its first requests.
 */
export const begunLater = <A, E, R>(pause: Duration.Input, run: Effect.Effect<A, E, R>) => {
  const longest = Duration.min(Duration.fromInputUnsafe(pause), maxDelay)
  return Effect.flatMap(Random.next, (part) => Effect.delay(run, Duration.times(longest, part)))
}

const every = <A, E, R>(failed: string, pause: Duration.Input, run: Effect.Effect<A, E, R>) =>
  Effect.repeat(logged(failed, run), Schedule.jittered(Schedule.spaced(pause)))

/** Runs a job again and again while the service runs, with a pause that differs between processes; it begins later. */
export const repeatedly = <A, E, R>(failed: string, pause: Duration.Input, run: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(begunLater(pause, every(failed, pause, run)))

/** Runs a job again and again from the start of the service, with a pause that differs between processes. */
export const repeatedlyFromStart = <A, E, R>(failed: string, pause: Duration.Input, run: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(every(failed, pause, run))
