import { Context, Effect, Layer, MutableRef } from "effect"

/** What goes through the service right now, and whether it is about to stop. */
export class Traffic extends Context.Service<
  Traffic,
  {
    /** Requests being answered. */
    readonly inFlight: MutableRef.MutableRef<number>
    /** Once true, answers close their connection and readiness is withdrawn. */
    readonly isDraining: () => boolean
    /** Runs when the service begins to stop. */
    readonly onDrain: (run: () => void) => void
    readonly drain: Effect.Effect<void>
  }
>()("waypost/http/Traffic") {
  static readonly layer = Layer.sync(Traffic, () => {
    const listeners = new Set<() => void>()
    let draining = false
    return {
      inFlight: MutableRef.make(0),
      isDraining: () => draining,
      onDrain: (run) => listeners.add(run),
      drain: Effect.sync(() => {
        draining = true
        for (const run of listeners) run()
      })
    }
  })
}

/** Placed above the server, so that it is released before the server stops listening. */
export const drainFirst = Layer.effectDiscard(Effect.flatMap(Traffic, ({ drain }) => Effect.addFinalizer(() => drain)))
