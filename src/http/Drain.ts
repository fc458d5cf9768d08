import { Context, Effect, Layer, MutableRef } from "effect"

/** Whether the service is about to stop: answers then close their connection and readiness is withdrawn. */
export class Drain extends Context.Service<
  Drain,
  {
    readonly draining: MutableRef.MutableRef<boolean>
  }
>()("waypost/http/Drain") {
  static readonly layer = Layer.sync(Drain, () => ({ draining: MutableRef.make(false) }))
}

/** Placed above the server, so that it is released before the server stops listening. */
export const withdraw = Layer.effectDiscard(
  Effect.flatMap(Drain, ({ draining }) => Effect.addFinalizer(() => Effect.sync(() => MutableRef.set(draining, true))))
)
