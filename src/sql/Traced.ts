import { Effect } from "effect"

/** Names a frequent read in a trace. Unlike `Effect.fn`, it adds no span while spans are not exported. */
export const traced = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    fiber.cache.tracerEnabled ? Effect.withSpan(effect, name, { captureStackTrace: false }) : effect
  )
