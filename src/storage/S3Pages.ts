import { Effect, Equal, Option, Stream } from "effect"
import { notUnderstood } from "./S3Client.ts"
import type { StorageUnavailableError } from "./Storage.ts"

/** A page of a listing; members that the response lacks are undefined. */
interface Page<A, Marker> {
  readonly items: ReadonlyArray<A | undefined>
  /** Whether more pages follow, from `next` on. */
  readonly truncated: boolean | undefined
  readonly next: Marker
}

/**
 * All items of a listing, or a failure, because an item that is missing may be treated as removed. So a response that is
 * not a listing is not an empty one, and a page that continues with itself fails.
 */
export const pages = <A, Marker>(
  first: Marker,
  fetch: (marker: Marker) => Effect.Effect<Page<A, Marker>, StorageUnavailableError>
): Stream.Stream<A, StorageUnavailableError> =>
  Stream.paginate(first, (marker) =>
    Effect.flatMap(fetch(marker), ({ items, next, truncated }) => {
      const whole = items.filter((item) => item !== undefined)
      const wrong = truncated === undefined || whole.length < items.length || (truncated && Equal.equals(next, marker))
      return wrong
        ? Effect.fail(notUnderstood)
        : Effect.succeed([whole, truncated ? Option.some(next) : Option.none()] as const)
    })
  )
