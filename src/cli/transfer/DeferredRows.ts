import { Effect, Stream } from "effect"
import type { Failure } from "../Failures.ts"
import type { Resource } from "./Resource.ts"
import type { Json, Row } from "./Row.ts"
import * as Upsert from "./Upsert.ts"

/** So many rows are remembered; of more the file has to be in an order that needs no second look. */
const most = 100_000

/**
 * Sends every row like `Upsert.upsertAll`. Rows that name a record which a later row makes, for example a variant that
 * stands before its parent, are sent again when the others have been, as often as that helps. A row never overtakes an
 * earlier one of the same key.
 */
export const upsertAll = (
  resource: Resource,
  calls: Upsert.Calls,
  options: { readonly concurrency: number; readonly summary: Upsert.Summary }
) => {
  const { key, late } = resource
  const { summary } = options

  const pass = <E, R>(rows: Stream.Stream<Row, E, R>, count: number): Stream.Stream<Upsert.Refusal, E | Failure, R> =>
    Stream.suspend(() => {
      const held: Array<Upsert.Refusal> = []
      const behind = new Map<unknown, Failure>()
      const create = (payload: unknown) => {
        const own = (payload as Json)[key]
        const failure = behind.get(own)
        return failure === undefined ? noting(own, calls.create(payload)) : Effect.fail(failure)
      }
      const noting = <A>(own: unknown, effect: Effect.Effect<A, Failure>) =>
        Effect.tapError(effect, (failure) =>
          Effect.sync(() => {
            if (failure._tag === late) behind.set(own, failure)
          })
        )
      const update = (uuid: string, payload: unknown) => noting((payload as Json)[key], calls.update(uuid, payload))
      const first = Upsert.upsertAll(
        resource,
        { ...calls, create, update },
        options
      )(rows).pipe(
        Stream.filter((refusal) => {
          if (refusal.reasons[0]?.code !== late || held.length >= most) return true
          held.push(refusal)
          summary.refused--
          return false
        })
      )
      const rest = Stream.suspend(() => {
        if (held.length > 0 && held.length < count)
          return pass(Stream.fromIterable(held.map(({ row }) => row)), held.length)
        summary.refused += held.length
        return Stream.fromIterable(held)
      })
      return Stream.concat(first, rest)
    })

  return <E, R>(rows: Stream.Stream<Row, E, R>) =>
    late === undefined ? Upsert.upsertAll(resource, calls, options)(rows) : pass(rows, Number.POSITIVE_INFINITY)
}
