import { Context, Effect, Layer } from "effect"

/** Whether the service is about to stop: answers then close their connection and readiness is withdrawn. */
export class Drain extends Context.Service<
  Drain,
  {
    readonly isDraining: () => boolean
    /** Runs when the service begins to stop. */
    readonly onDrain: (run: () => void) => void
    readonly begin: Effect.Effect<void>
  }
>()("waypost/http/Drain") {
  static readonly layer = Layer.sync(Drain, () => {
    const listeners = new Set<() => void>()
    let draining = false
    return {
      isDraining: () => draining,
      onDrain: (run) => listeners.add(run),
      begin: Effect.sync(() => {
        draining = true
        for (const run of listeners) run()
      })
    }
  })
}

/** Placed above the server, so that it is released before the server stops listening. */
export const withdraw = Layer.effectDiscard(Effect.flatMap(Drain, ({ begin }) => Effect.addFinalizer(() => begin)))
