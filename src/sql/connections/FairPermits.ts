import { Duration, Effect, type Option } from "effect"
import { CurrentShare, type Share } from "../../domain/keys/Share.ts"
import { RateLimitExceededError, ServiceUnavailableError } from "../../domain/write/RequestErrors.ts"

/** How long work takes, and so what it may hold. */
interface Work {
  /** It may take seconds. */
  readonly isLong?: boolean
  /** It takes milliseconds, so that a share which is alone may hold every permit with it. */
  readonly isBrief?: boolean
  /** Long work that has to be finished, so that it does not end when it is contended. */
  readonly isFinished?: boolean
}

/** Runs an effect when its turn has come. */
export type Turn = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** For what needs no turn. */
export const atAnyTime: Turn = (effect) => effect

export interface Turns extends Turn {
  /** None if the effect has to wait for its turn. */
  readonly ifFree: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Option.Option<A>, E, R>
}

interface Waiter {
  readonly work: Work
  readonly grant: () => void
}

interface Holder {
  readonly share: Share
  readonly waiting: Set<Waiter>
  held: number
  /** How many of the held permits are of long work. */
  long: number
}

interface Options {
  readonly permits: number
  /** The part of the permits that one share may hold, between 0 and 1. */
  readonly maxShare: number
  /** How much long work a share that is not alone does at once. */
  readonly maxLong: number
  /** How long a request waits for a permit. */
  readonly maxWait: Duration.Input
  /** How long a permit stays taken after its use, in milliseconds. */
  readonly restMillis?: number
  /** The answer to a request that waited for too long while others worked. */
  readonly overShare?: RateLimitExceededError
}

/** The lower, the sooner its turn. */
const rankOf = ({ held, share }: Holder) => (share.isFirst === true ? -1 : held / share.weight)

/** How long a share that is not alone does long work. */
const longMillis = 1500
const recheckMillis = 250

/**
 * A number of permits, divided between shares. A share may hold a part of them; the rest is left for shares that hold none.
 * Brief work of a share that is alone may hold the rest too. A free permit goes to the waiting share that holds the fewest for
 * its weight, and equals take turns. Work that all wait for goes first, but holds one permit while keys hold all others. Long work of
 * a share that is not alone has `maxLong` permits, and ends after 1.5 s.
 *
 * `PartitionedSemaphore` takes turns as well, but lets one share hold all permits.
 */
export const make = ({ maxLong, maxShare, maxWait, overShare = usesWholeShare, permits, restMillis = 0 }: Options) => {
  const part = Math.ceil(permits * maxShare)
  const reserved = permits - part
  /** In the order of their last turn. */
  const holders = new Map<string, Holder>()
  let free = permits
  let waits = 0
  /** Spread over the second half of the time, so that requests which began together do not return together. */
  const waitMillis = () => (Duration.toMillis(maxWait) * (1 + (waits++ % 16) / 16)) / 2

  const mayTake = ({ held, long, share }: Holder, { isBrief = false, isLong = false }: Work) => {
    if (free === 0 || (isLong && long >= maxLong && !share.isAlone())) return false
    const isWithinPart = held === 0 || (free > reserved && held < part * share.weight)
    return isWithinPart || (isBrief && share.weight >= 1 && share.isAlone())
  }

  const take = (holder: Holder, { isLong = false }: Work) => {
    free--
    holder.held++
    if (isLong) holder.long++
    holders.delete(holder.share.id)
    holders.set(holder.share.id, holder)
  }

  const nextTurn = () => {
    let next: readonly [holder: Holder, waiter: Waiter] | undefined
    for (const holder of holders.values()) {
      if (next !== undefined && rankOf(holder) >= rankOf(next[0])) continue
      const waiter = holder.waiting.values().find(({ work }) => mayTake(holder, work))
      if (waiter !== undefined) next = [holder, waiter]
    }
    return next
  }

  const grantNext = () => {
    for (let next = nextTurn(); next !== undefined; next = nextTurn()) {
      const [holder, waiter] = next
      holder.waiting.delete(waiter)
      take(holder, waiter.work)
      waiter.grant()
    }
  }

  const forget = ({ held, share, waiting }: Holder) => {
    if (held === 0 && waiting.size === 0) holders.delete(share.id)
  }

  const release = (holder: Holder, { isLong = false }: Work) => {
    free++
    holder.held--
    if (isLong) holder.long--
    forget(holder)
    grantNext()
  }

  const releaseRested = (holder: Holder, work: Work) => {
    if (restMillis === 0) release(holder, work)
    else setTimeout(() => release(holder, work), restMillis)
  }

  const holderOf = (share: Share): Holder => holders.get(share.id) ?? { share, waiting: new Set(), held: 0, long: 0 }

  const acquire = (share: Share, work: Work) =>
    Effect.callback<Holder>((resume) => {
      const holder = holderOf(share)
      holders.set(share.id, holder)
      if (mayTake(holder, work)) {
        take(holder, work)
        return resume(Effect.succeed(holder))
      }
      const stop = () => {
        clearTimeout(timer)
        holder.waiting.delete(waiter)
        forget(holder)
      }
      const waiter: Waiter = {
        work,
        grant: () => {
          clearTimeout(timer)
          resume(Effect.succeed(holder))
        }
      }
      const giveUp = () => {
        stop()
        resume(Effect.die(share.isAlone() ? busy : overShare))
      }
      const timer = share.isFirst === true ? undefined : setTimeout(giveUp, waitMillis())
      holder.waiting.add(waiter)
      return Effect.sync(stop)
    })

  /** Runs an effect with a permit of the current share. Long work ends when it is contended, unless it has to be finished. */
  const withPermit = <A, E, R>(effect: Effect.Effect<A, E, R>, work: Work = {}): Effect.Effect<A, E, R> =>
    Effect.flatMap(CurrentShare, (share) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(acquire(share, work)), (holder) =>
          Effect.ensuring(
            restore(
              work.isLong === true && work.isFinished !== true
                ? Effect.raceFirst(effect, endWhenContended(share, overShare))
                : effect
            ),
            Effect.sync(() => releaseRested(holder, work))
          )
        )
      )
    )

  /** Runs an effect with a permit, if the share need not wait for one. */
  const ifFree = <A, E, R>(effect: Effect.Effect<A, E, R>, work: Work = {}): Effect.Effect<Option.Option<A>, E, R> =>
    Effect.flatMap(CurrentShare, (share) =>
      Effect.suspend(() =>
        mayTake(holderOf(share), work) ? Effect.asSome(withPermit(effect, work)) : Effect.succeedNone
      )
    )

  return Object.assign(withPermit, { ifFree })
}

/** Ends long work of a share once it is not alone. */
const endWhenContended = (share: Share, overShare: RateLimitExceededError): Effect.Effect<never> =>
  Effect.sleep(longMillis).pipe(
    Effect.andThen(Effect.repeat(Effect.sleep(recheckMillis), { while: () => share.isAlone() })),
    Effect.andThen(Effect.die(overShare))
  )

const busy = new ServiceUnavailableError({ message: "The database takes too long; try again" })

const usesWholeShare = RateLimitExceededError.retryIn(
  "This key uses its whole share of the database while other keys work; try again"
)
