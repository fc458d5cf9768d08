import { Effect } from "effect"

/** A part of the log of changes. */
export interface Part<A> {
  readonly data: ReadonlyArray<A>
  readonly cursor: string
}

/** How long the service waits for an event before it answers without one, in seconds. */
const wait = 25

/** How long a follower waits before it tries again after the attempts of a request, in milliseconds. */
const pause = 5000

export interface Follow<A, E, R> {
  /** Reads the part behind a cursor; without one, from the oldest event on. */
  readonly read: (query: { readonly after?: string; readonly wait: number }) => Effect.Effect<Part<A>, E, R>
  /** Whether a later attempt may succeed. */
  readonly isTransient: (error: E) => boolean
}

/** The next part of the log, however long the service cannot be reached. */
export const next = <A, E, R>(follow: Follow<A, E, R>, after: string | undefined): Effect.Effect<Part<A>, E, R> =>
  Effect.catchIf(follow.read({ ...(after === undefined ? {} : { after }), wait }), follow.isTransient, () =>
    Effect.flatMap(Effect.sleep(pause), () => next(follow, after))
  )
