import { Effect, Equal, Option, Stream } from "effect"
import { notUnderstood } from "./S3Client.ts"
import type { StorageUnavailableError } from "./Storage.ts"

/** A page of a listing; what the answer lacks is undefined. */
interface Page<A, Marker> {
  readonly items: ReadonlyArray<A | undefined>
  /** Whether more pages follow, from `next` on. */
  readonly truncated: boolean | undefined
  readonly next: Marker
}

/**
 * Everything of a listing, or a failure: what is missing from it may be taken for removed. So an answer that is no
 * listing is not an empty one, and a page that leads to itself does not go on for ever.
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
