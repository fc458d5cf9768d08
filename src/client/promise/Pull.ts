import { Effect, Option } from "effect"
import type { WaypostError } from "./Errors.ts"

/** Reads on from a place: the next items, and the place after them unless that is the end. */
type Step<S, A> = (
  place: S
) => Effect.Effect<readonly [items: ReadonlyArray<A>, following: Option.Option<S>], WaypostError>

/**
 * Pulls one item after the other; the next ones are read when those of the last step are used up. After a failure, it reads
 * from the same place again.
 */
export const pull = <S, A>(begin: S, step: Step<S, A>) => {
  let items: ReadonlyArray<A> = []
  let index = 0
  let place = Option.some(begin)
  const item: Effect.Effect<IteratorResult<A, undefined>, WaypostError> = Effect.suspend(() => {
    if (index < items.length) return Effect.succeed({ done: false, value: items[index++]! })
    if (Option.isNone(place)) return Effect.succeed({ done: true, value: undefined })
    return Effect.flatMap(step(place.value), ([next, following]) => {
      items = next
      index = 0
      place = following
      return item
    })
  })
  return item
}
