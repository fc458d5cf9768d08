import { Effect, Option, Semaphore } from "effect"
import * as FairQueue from "../media/FairQueue.ts"

/** Half of the time that a file has at least before a file of another key takes its turn, and all of it. */
const halfTurn = "500 millis"
const turn = "1 second"
const recheck = "100 millis"

/** Added to the priority of a file that took too long, or had to end its turn. */
export const behindAll = 2

/** How long the files of a share end no turn after one of its own took too long, in milliseconds. */
const restMillis = 60_000

/** How many such shares are remembered. */
const maxSlow = 1000

/** The turn of a file. An effect that had to end before it was done returns none. */
export interface Turn {
  /** Copies the file. */
  copy<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R>
  /** Uses the renderer. */
  draw<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Option.Option<A>, E>
}

/**
 * The turns of files at the renderer. Files that a request waits for go first, files that took too long go last, and the
 * keys that uploaded the others share the time. A file that is drawn for a second ends its turn when a request waits for
 * the file of another key, and goes last; so does one that is copied for a second, if another one is too. A key whose files
 * took too long cannot end the turns of others.
 */
export const make = (permits: number, prepareNext: Effect.Effect<void>) => {
  const queue = FairQueue.make(permits)
  const drawing = Semaphore.makeUnsafe(1)
  const slowSince = new Map<string, number>()

  const noteSlow = (share: string) => {
    slowSince.delete(share)
    slowSince.set(share, performance.now())
    const [oldest] = slowSince.keys()
    if (slowSince.size > maxSlow && oldest !== undefined) slowSince.delete(oldest)
  }
  const isSlow = (share: string) => performance.now() - (slowSince.get(share) ?? -Infinity) < restMillis
  const isAmong = (share: string, others: ReadonlyArray<string>) =>
    others.some((other) => other !== share && !isSlow(other))
  const isContended = (share: string) => isAmong(share, queue.urgent())

  /**
   * Ends when a turn must end. The next process starts in the second half of the turn, and at once where that is likely to
   * be too late.
   */
  const endOfTurn = (share: string) => {
    const contended = Effect.repeat(Effect.sleep(recheck), { until: () => isContended(share) })
    return (isSlow(share) ? prepareNext : Effect.void).pipe(
      Effect.andThen(Effect.sleep(halfTurn)),
      Effect.andThen(contended),
      Effect.andThen(prepareNext),
      Effect.andThen(Effect.sleep(halfTurn)),
      Effect.andThen(contended),
      Effect.andThen(Effect.sync(() => noteSlow(share)))
    )
  }

  /** The copy that goes on although it takes longer than a turn. */
  let longCopy: symbol | undefined

  /**
   * Ends when a copy must end. One that takes longer than a turn goes on, because it would begin again from the start; while it
   * does, another one must leave its permit to other files.
   */
  const endOfCopy = (share: string) =>
    Effect.suspend(() => {
      const own = Symbol()
      const mustEnd = () => {
        longCopy ??= own
        // A file that has a permit too is not delayed.
        if (!isAmong(share, queue.urgentWaiting())) return false
        noteSlow(share)
        return longCopy !== own
      }
      const over = Effect.sync(() => {
        if (longCopy === own) longCopy = undefined
      })
      return Effect.sleep(turn).pipe(
        Effect.andThen(Effect.repeat(Effect.sleep(recheck), { until: mustEnd })),
        Effect.ensuring(over)
      )
    })

  return {
    waiting: queue.waiting,
    noteSlow,
    /** Runs a job when it is its turn; repeats it when it returns false, because it had to end its turn. */
    run: <E>(
      share: string,
      priority: () => number,
      job: (turn: Turn) => Effect.Effect<boolean, E>
    ): Effect.Effect<void, E> =>
      Effect.suspend(() => {
        let [isEnded, isCopying] = [false, false]
        // A file that is still copied cannot be drawn, so it ends no turn.
        const place = { share, priority: () => priority() + (isEnded ? behindAll : 0) + (isCopying ? 1 : 0) }
        const turn: Turn = {
          copy: (effect) =>
            Effect.suspend(() => {
              isCopying = true
              return Effect.raceFirst(Effect.asSome(effect), Effect.as(endOfCopy(share), Option.none()))
            }).pipe(Effect.ensuring(Effect.sync(() => (isCopying = false)))),
          draw: (effect) =>
            drawing.withPermit(Effect.raceFirst(Effect.asSome(effect), Effect.as(endOfTurn(share), Option.none())))
        }
        const taken = Effect.tap(job(turn), (isDone) => Effect.sync(() => (isEnded = !isDone)))
        return Effect.asVoid(Effect.repeat(queue.withPermit(place)(taken), { until: (isDone) => isDone }))
      })
  }
}
