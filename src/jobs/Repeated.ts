import { type Duration, Effect, Schedule } from "effect"

/** Logs a failure, and waits a second after it, so that the log has one warning a second of a job while no database answers. */
export const logged = <A, E, R>(failed: string, run: Effect.Effect<A, E, R>) =>
  Effect.catchCause(run, (cause) => Effect.andThen(Effect.logWarning(failed, cause), Effect.sleep("1 second")))

/** Runs a job again and again while the service runs, with a pause that differs between processes. */
export const repeatedly = <A, E, R>(failed: string, pause: Duration.Input, run: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(Effect.repeat(logged(failed, run), Schedule.jittered(Schedule.spaced(pause))))
