import { Effect, Pull, Stream } from "effect"

/**
 * The first chunks of a stream, until there are enough of them, and the whole stream from its first chunk on. The source is
 * read once.
 */
export const peek = <A, E, R>(stream: Stream.Stream<A, E, R>, isEnough: (head: ReadonlyArray<A>) => boolean) =>
  Effect.gen(function* () {
    const pull = yield* Stream.toPull(stream)
    const head: Array<A> = []
    let isDone = false
    while (!isDone && !isEnough(head)) {
      const chunk = yield* Pull.catchDone(pull, () => Effect.succeed(undefined))
      if (chunk === undefined) isDone = true
      else head.push(...chunk)
    }
    const rest = isDone ? Stream.empty : Stream.fromPull(Effect.succeed(pull))
    return { head, stream: Stream.concat(Stream.fromIterable(head), rest) }
  })
