import { Context, type Duration, Effect, Layer, MutableRef } from "effect"
import { Settings } from "../../settings/Config.ts"

/** The requests in flight, and whether the service is draining. */
export class InFlight extends Context.Service<
  InFlight,
  {
    /** Requests being answered. */
    readonly inFlight: MutableRef.MutableRef<number>
    /** While true, responses close their connection and the service is not ready. */
    readonly isDraining: () => boolean
    /** Registers a function that runs before the port is closed. */
    readonly onDrain: (run: () => void) => void
    /** Withdraws readiness, and keeps answering for this time before the port is closed. */
    readonly drain: (time: Duration.Input) => Effect.Effect<void>
  }
>()("waypost/http/transport/InFlight") {
  static readonly layer = Layer.sync(InFlight, () => {
    const listeners = new Set<() => void>()
    let draining = false
    return {
      inFlight: MutableRef.make(0),
      isDraining: () => draining,
      onDrain: (run) => listeners.add(run),
      drain: Effect.fnUntraced(function* (time) {
        draining = true
        yield* Effect.sleep(time)
        for (const run of listeners) run()
      })
    }
  })
}

/** Placed above the server, so that it is released before the server stops listening. */
export const drainFirst = Layer.effectDiscard(
  Effect.gen(function* () {
    const { drain } = yield* InFlight
    const { DRAIN_SECONDS } = yield* Settings
    yield* Effect.addFinalizer(() => drain(`${DRAIN_SECONDS} seconds`))
  })
)
