import { type Duration, Effect, Exit, RcRef, type Scope, Semaphore } from "effect"
import type * as RendererProcess from "./RendererProcess.ts"

interface Options<E, R> {
  /** Starts a process. */
  readonly start: Effect.Effect<RendererProcess.RendererProcess, E, R | Scope.Scope>
  /** How long a process waits for more work. */
  readonly idle: Duration.Input
  /** After how many jobs a process is replaced. */
  readonly jobs: number
}

/**
 * A queue for the one process that decodes. The process starts with the first job, is kept for the next ones, and is
 * replaced when it has ended or a job failed: after an interruption it still works on a job that has no reader.
 */
export const make = Effect.fnUntraced(function* <E, R>({ idle, jobs, start }: Options<E, R>) {
  const one = Semaphore.makeUnsafe(1)
  const process = RcRef.make({
    acquire: Effect.map(start, (process) => ({ ...process, jobs: 0 })),
    idleTimeToLive: idle
  })
  let [current, next] = [yield* process, yield* process]
  const replace = Effect.suspend(() => {
    const ended = current
    current = next
    next = ended
    return RcRef.invalidate(ended)
  })
  const running = Effect.gen(function* () {
    const process = yield* RcRef.get(current)
    if (yield* process.isRunning) return process
    yield* replace
    return yield* RcRef.get(current)
  })
  return {
    run: <A, E2>(use: (process: RendererProcess.RendererProcess) => Effect.Effect<A, E2>) =>
      one.withPermit(
        running.pipe(
          Effect.flatMap((process) =>
            Effect.onExit(use(process), (exit) =>
              Exit.isFailure(exit) || ++process.jobs >= jobs ? replace : Effect.void
            )
          ),
          Effect.scoped
        )
      ),
    /** Starts the process that replaces the current one, which then takes no time. */
    prepareNext: Effect.ignoreCause(Effect.scoped(Effect.suspend(() => RcRef.get(next))))
  }
})
