import { Effect, Schema, Stream } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import * as KeysetPages from "../../client/KeysetPages.ts"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import { type Failure, isPageTooLarge } from "../Failures.ts"
import type { Resource } from "./Resource.ts"

export type List<A> = Omit<KeysetPages.List<A, Failure>, "isTooLarge">

/** Every record of a list, oldest first, each once. */
export const readAll = <A>(list: List<A>): Stream.Stream<A, Failure> =>
  Stream.paginate(KeysetPages.start, KeysetPages.next({ ...list, isTooLarge: isPageTooLarge }))

/** Every matching record of a resource, encoded as in the API. */
export const read = (
  resource: Resource,
  list: ReturnType<Resource["list"]>,
  filter: ReadonlyArray<Condition>,
  onTotal?: (total: number) => void
): Stream.Stream<Json, Failure> => {
  // What a file may create has limits that a record can exceed, for example of members.
  const encode = Schema.encodeUnknownEffect(Schema.Array(resource.record), { disableChecks: true })
  return readAll<Json>({
    list: Effect.fnUntraced(function* (query) {
      const { data, pagination } = yield* list(filter.length > 0 ? { ...query, filter } : query)
      return { data: yield* encode(data), pagination }
    }),
    onTotal
  })
}
