import { Effect } from "effect"
import type { Share } from "../../../domain/keys/Share.ts"
import { RateLimitExceededError } from "../../../domain/write/RequestErrors.ts"
import type { Shares } from "./Shares.ts"

/** Bytes of a body that are not counted, so that small bodies are read however many the large ones have. */
const uncountedBytes = 256 * 1024

/** The place of a bulk request or plan among those that the process works on. It has none while its body arrives. */
export interface BulkPlace {
  /** Takes the place, if it is not taken; false if there is none left. */
  readonly enter: () => boolean
  readonly leave: () => void
  /** Sets how many bytes of the body are counted; false if there is no room for them. */
  readonly hold: (bytes: number) => boolean
}

export const make = ({ release, take }: Shares["Service"], share: Share): BulkPlace => {
  let isTaken = false
  let held = 0
  return {
    enter: () => (isTaken ||= take(share, "bulkPlaces")),
    leave: () => {
      if (isTaken) release(share, "bulkPlaces")
      isTaken = false
    },
    hold: (bytes) => {
      const more = Math.max(0, bytes - uncountedBytes) - held
      if (more > 0 && !take(share, "bodyBytes", more)) return false
      if (more < 0) release(share, "bodyBytes", -more)
      held += more
      return true
    }
  }
}

/** Takes the place, and waits for as long as there is none. */
export const enter = (place: BulkPlace | undefined): Effect.Effect<void> =>
  Effect.suspend(() =>
    place === undefined || place.enter() ? Effect.void : Effect.andThen(Effect.sleep("50 millis"), enter(place))
  )

/** Takes the place, or rejects the request if there is none for a second. */
export const enterSoon = (place: BulkPlace): Effect.Effect<void> =>
  Effect.suspend(() =>
    place.enter()
      ? Effect.void
      : Effect.timeoutOrElse(enter(place), { duration: "1 second", orElse: () => Effect.die(tooManyInProcess) })
  )

/** Counts the bytes of the body, or rejects the request if there is no room for them. */
export const hold = (place: BulkPlace | undefined, bytes: number): Effect.Effect<void> =>
  Effect.suspend(() => (place === undefined || place.hold(bytes) ? Effect.void : Effect.die(tooManyBytes)))

const tooManyBytes = RateLimitExceededError.retryIn(
  "The service has as many bytes of bulk requests and plans of all keys as it can; try again"
)

const tooManyInProcess = RateLimitExceededError.retryIn(
  "The service works on as many bulk requests and plans of all keys as it can; try again"
)
