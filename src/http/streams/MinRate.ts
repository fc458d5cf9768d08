import { Duration, Effect, Stream } from "effect"

/**
 * Fails a body that arrives at less than a rate, in bytes per second, over a time. Only the time that is spent waiting for the
 * client counts, because a slow disk is not its fault.
 */
export const withMinRate =
  <Slow>(options: { readonly rate: number; readonly averagedOver: number; readonly slow: Slow }) =>
  <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E | Slow, R> =>
    Stream.transformPull(bytes, (pull) =>
      Effect.sync(() => {
        let waited = 0
        let arrived = 0
        return Effect.flatMap(Effect.timed(pull), ([time, chunks]) => {
          waited += Duration.toMillis(time)
          arrived += chunks.reduce((sum, { length }) => sum + length, 0)
          if (waited < options.averagedOver) return Effect.succeed(chunks)
          const isSlow = arrived < (options.rate * waited) / 1000
          waited = 0
          arrived = 0
          return isSlow ? Effect.fail(options.slow) : Effect.succeed(chunks)
        })
      })
    )
