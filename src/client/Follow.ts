import { Effect } from "effect"
import { type Failures, TimeLimit } from "./Retries.ts"

/** A part of the log of changes. */
export interface Part<A> {
  readonly data: ReadonlyArray<A>
  readonly cursor: string
}

/** How long the service waits for an event before it answers without one, in seconds. */
const wait = 25

/**
 * How long an attempt may wait for its answer, in milliseconds: longer than the service, which takes 20 s at most besides the
 * wait. Nothing else ends a request on a connection that died silently.
 */
const limit = 60_000

/** How long a follower waits before it tries again after the attempts of a request, in milliseconds. */
const pause = 5000

/** How long it waits at most because a busy service asks for it, in milliseconds: it may be well again before. */
const maxPause = 300_000

export interface Follow<A, E, R> extends Failures<E> {
  /** Reads the part behind a cursor; without one, from the oldest event on. */
  readonly read: (query: { readonly after?: string; readonly wait: number }) => Effect.Effect<Part<A>, E, R>
}

/** The next part of the log, however long the service cannot be reached. */
export const next = <A, E, R>(follow: Follow<A, E, R>, after: string | undefined): Effect.Effect<Part<A>, E, R> =>
  Effect.catchIf(
    Effect.provideService(follow.read({ ...(after === undefined ? {} : { after }), wait }), TimeLimit, limit),
    follow.isTransient,
    (error) => {
      const asked = (follow.retryAfterOf(error) ?? 0) * 1000
      return Effect.andThen(Effect.sleep(Math.max(pause, Math.min(asked, maxPause))), next(follow, after))
    }
  )
