import { Context, type Duration, Effect, Layer, MutableRef, Result } from "effect"
import type { Share } from "../../domain/keys/Share.ts"
import { Settings } from "../../settings/Config.ts"
import type { BulkPlace } from "./limits/BulkPlace.ts"

/** The place of a request among those in flight. */
interface Place {
  /** The share of the key of the request, once it is known. */
  share: Share | undefined
  /** Takes the place again; false if there is none left. */
  readonly enter: () => boolean
  readonly leave: () => void
  /** The place that a bulk request or a plan has in addition. */
  bulk: BulkPlace | undefined
  /** Ends the part of the request in the share of its key. */
  leaveShare: () => void
  /**
   * Since when the request lasts, as a stream or to wait for events, in nanoseconds of the monotonic time; that is not the time of
   * its answer.
   */
  lastsSince: bigint | undefined
}

/** The place of the current request. A request whose body is arriving has none, and neither has a rejected one. */
export const CurrentPlace = Context.Reference<Place>("waypost/http/transport/InFlight/CurrentPlace", {
  defaultValue: () => ({
    share: undefined,
    enter: () => true,
    leave: () => undefined,
    bulk: undefined,
    leaveShare: () => undefined,
    lastsSince: undefined
  })
})

/** A function that releases what was taken, or the limit that is reached. */
export type Taken = Result.Result<() => void, "process" | "network">

/** Takes from a count, which has at most `max`. */
export const takeIn = (count: MutableRef.MutableRef<number>, max: number): (() => Taken) => {
  const taken: Taken = Result.succeed(() => MutableRef.decrement(count))
  const full: Taken = Result.fail("process")
  return () => {
    if (MutableRef.get(count) >= max) return full
    MutableRef.increment(count)
    return taken
  }
}

/** A place that is taken by `take`. */
export const placeOf = (take: () => Taken): Result.Result<Place, "process" | "network"> =>
  Result.map(take(), (taken) => {
    let release: (() => void) | undefined = taken
    return {
      share: undefined,
      bulk: undefined,
      leaveShare: () => undefined,
      lastsSince: undefined,
      enter: () => {
        release ??= Result.getOrUndefined(take())
        return release !== undefined
      },
      leave: () => {
        release?.()
        release = undefined
      }
    }
  })

/**
 * How long the rejection of an overload waits, in milliseconds: clients that repeat at once would otherwise take the
 * processor from the requests that are being answered. Above the maximum a rejection costs less than its place.
 */
const rejectionMillis = 100
const maxWaitingRejections = 2048

/** The rejection, after a delay. `waiting` counts those that wait, until they are made or their clients hang up. */
export const delayRejection = <A>(waiting: MutableRef.MutableRef<number>, reject: () => A): Effect.Effect<A> => {
  const wait = Effect.acquireUseRelease(
    Effect.sync(() => MutableRef.increment(waiting)),
    () => Effect.sleep(rejectionMillis),
    () => Effect.sync(() => MutableRef.decrement(waiting))
  )
  return Effect.map(
    Effect.suspend(() => (MutableRef.get(waiting) >= maxWaitingRejections ? Effect.void : wait)),
    reject
  )
}

/** The requests in flight, and whether the service is draining. */
export class InFlight extends Context.Service<
  InFlight,
  {
    /** Requests being answered. */
    readonly inFlight: MutableRef.MutableRef<number>
    /** A rejection, after a delay. */
    readonly delayRejection: <A>(reject: () => A) => Effect.Effect<A>
    /** While true, responses close their connection and the service is not ready. */
    readonly isDraining: () => boolean
    /** Registers a function that runs before the port is closed. */
    readonly onDrain: (run: () => void) => void
    /** Registers a function that runs when the service begins to drain. */
    readonly onDraining: (run: () => void) => void
    /** Withdraws readiness, and keeps answering for this time before the port is closed. */
    readonly drain: (time: Duration.Input) => Effect.Effect<void>
  }
>()("waypost/http/transport/InFlight") {
  static readonly layer = Layer.sync(InFlight, () => {
    const [listeners, first] = [new Set<() => void>(), new Set<() => void>()]
    let draining = false
    const waiting = MutableRef.make(0)
    return {
      inFlight: MutableRef.make(0),
      delayRejection: (reject) => delayRejection(waiting, reject),
      isDraining: () => draining,
      onDrain: (run) => listeners.add(run),
      onDraining: (run) => first.add(run),
      drain: Effect.fnUntraced(function* (time) {
        draining = true
        for (const run of first) run()
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
