import { Context, Effect, Random } from "effect"

/** Attempts after the first. */
const times = 3

/** The first delay in milliseconds, which doubles. */
const firstDelay = 100

/** The longest time that a request waits because a busy service asks for it, in seconds. */
const maxWait = 60

/** How long each attempt of a request may wait for its answer to begin, in milliseconds; without it, as long as the platform does. */
export const TimeLimit = Context.Reference<number | undefined>("waypost/client/Retries/TimeLimit", {
  defaultValue: () => undefined
})

/** An attempt that fails when its answer does not begin within its time limit. */
export const limited = <A, E, R>(attempt: Effect.Effect<A, E, R>, onLimit: (message: string) => E) =>
  Effect.flatMap(TimeLimit, (duration) =>
    duration === undefined
      ? attempt
      : Effect.timeoutOrElse(attempt, {
          duration,
          orElse: () => Effect.fail(onLimit(`no answer within ${duration / 1000} s`))
        })
  )

/** How a client reads the failures of a request. */
export interface Failures<E> {
  /** Whether the next attempt may succeed. */
  readonly isTransient: (failure: E) => boolean
  /** The seconds after which the service asks to repeat the request. */
  readonly retryAfterOf: (failure: E) => number | undefined
}

/** Repeats a request that failed for a moment, after a growing delay or the one that the service asks for. */
export const retried = <A, E, R>(
  request: Effect.Effect<A, E, R>,
  failures: Failures<E>,
  attempt = 0
): Effect.Effect<A, E, R> =>
  Effect.catch(request, (failure) => {
    const asked = failures.retryAfterOf(failure) ?? 0
    if (attempt >= times || !failures.isTransient(failure) || asked > maxWait) return Effect.fail(failure)
    return Effect.flatMap(Random.nextBetween(0.8, 1.2), (jitter) => {
      const delay = firstDelay * 2 ** attempt * jitter
      return Effect.andThen(Effect.sleep(Math.max(delay, asked * 1000)), retried(request, failures, attempt + 1))
    })
  })

/** The seconds of the header `Retry-After`, which has their number or a date. */
export const secondsOf = (retryAfter: string | null | undefined): number | undefined => {
  if (retryAfter === null || retryAfter === undefined) return undefined
  const number = Number(retryAfter)
  const seconds = Number.isFinite(number) ? number : Math.ceil((Date.parse(retryAfter) - Date.now()) / 1000)
  return Number.isFinite(seconds) ? seconds : undefined
}

/** A POST is not idempotent without a key; every other request of the API is. */
export const isIdempotent = ({ headers, method }: Request): boolean =>
  method !== "POST" || headers["idempotency-key"] !== undefined

/**
 * Whether a write has a key where its operation takes one. Without it, the repetition of a deletion would find no record, and
 * that of a write with a precondition the entity tag of the first attempt. Other writes leave the same when they are repeated.
 */
export const needsKey = ({ headers, method }: Request): boolean =>
  method === "POST" || method === "DELETE" || headers["if-match"] !== undefined

interface Request {
  readonly method: string
  readonly headers: Readonly<Record<string, string | undefined>>
}
