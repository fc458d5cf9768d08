import { type Duration, Effect, Exit, RcRef, Semaphore } from "effect"
import * as RendererProcess from "./RendererProcess.ts"

interface Options {
  /** How long a process waits for more work. */
  readonly idle: Duration.Input
  /** After how many jobs a process is replaced. */
  readonly jobs: number
  readonly searchPath: string
}

/**
 * Turns with the one process that decodes. It is started for the first one, kept for the next ones, and replaced when it
 * has died or a turn did not end well: an interrupted one leaves it at work on something nobody waits for.
 */
export const make = Effect.fnUntraced(function* ({ idle, jobs, searchPath }: Options) {
  const one = Semaphore.makeUnsafe(1)
  const current = yield* RcRef.make({
    acquire: Effect.map(RendererProcess.start(searchPath), (process) => ({ ...process, jobs: 0 })),
    idleTimeToLive: idle
  })
  const running = Effect.gen(function* () {
    const process = yield* RcRef.get(current)
    if (yield* process.isRunning) return process
    yield* RcRef.invalidate(current)
    return yield* RcRef.get(current)
  })
  return <A, E>(use: (process: RendererProcess.RendererProcess) => Effect.Effect<A, E>) =>
    one.withPermit(
      running.pipe(
        Effect.flatMap((process) =>
          Effect.onExit(use(process), (exit) =>
            Exit.isFailure(exit) || ++process.jobs >= jobs ? RcRef.invalidate(current) : Effect.void
          )
        ),
        Effect.scoped
      )
    )
})
