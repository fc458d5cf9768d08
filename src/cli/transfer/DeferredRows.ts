import { Effect, Stream } from "effect"
import type { Failure } from "../Failures.ts"
import type { Resource } from "./Resource.ts"
import { memberOf, type Row } from "./Row.ts"
import * as Upsert from "./Upsert.ts"

/** Rows that are kept for another pass; further ones are rejected at once. */
const maxDeferred = 100_000

/**
 * Sends every row like `Upsert.upsertAll`. Rows that name a record which a later row creates, such as a variant before its
 * parent, are sent again after the others, until a pass makes no progress. A row never overtakes an earlier one of the same
 * key.
 */
export const upsertAll = (
  resource: Resource,
  calls: Upsert.Calls,
  options: { readonly concurrency: number; readonly summary: Upsert.Summary }
) => {
  const { key, late } = resource
  const { summary } = options

  const pass = <E, R>(
    rows: Stream.Stream<Row, E, R>,
    count: number
  ): Stream.Stream<Upsert.RejectedRow, E | Failure, R> =>
    Stream.suspend(() => {
      const deferred: Array<Upsert.RejectedRow> = []
      const deferredKeys = new Map<unknown, Failure>()
      const create = (payload: unknown) => {
        const own = memberOf(payload, key)
        const failure = deferredKeys.get(own)
        return failure === undefined ? noting(own, calls.create(payload)) : Effect.fail(failure)
      }
      const noting = <A>(own: unknown, effect: Effect.Effect<A, Failure>) =>
        Effect.tapError(effect, (failure) =>
          Effect.sync(() => {
            if (failure._tag === late) deferredKeys.set(own, failure)
          })
        )
      const update = (uuid: string, payload: unknown) => noting(memberOf(payload, key), calls.update(uuid, payload))
      const first = Upsert.upsertAll(
        resource,
        { ...calls, create, update },
        options
      )(rows).pipe(
        Stream.filter((rejected) => {
          if (rejected.reasons[0]?.code !== late || deferred.length >= maxDeferred) return true
          deferred.push(rejected)
          summary.refused--
          return false
        })
      )
      const rest = Stream.suspend(() => {
        if (deferred.length > 0 && deferred.length < count)
          return pass(Stream.fromIterable(deferred.map(({ row }) => row)), deferred.length)
        summary.refused += deferred.length
        return Stream.fromIterable(deferred)
      })
      return Stream.concat(first, rest)
    })

  return <E, R>(rows: Stream.Stream<Row, E, R>) =>
    late === undefined ? Upsert.upsertAll(resource, calls, options)(rows) : pass(rows, Number.POSITIVE_INFINITY)
}
