import { Stream } from "effect"
import type { Failure } from "../Failures.ts"
import type { RefusedRow } from "../files/RefusedRows.ts"
import type { Resource } from "./Resource.ts"
import type { Row } from "../files/Row.ts"
import type * as Upsert from "./Upsert.ts"

/** Rows that are kept for another pass; further ones are refused at once. */
const maxDeferred = 100_000

/** Sends rows, and returns those that are refused. */
type Send = <E, R>(rows: Stream.Stream<Row, E, R>) => Stream.Stream<RefusedRow, E | Failure, R>

/**
 * Rows that name a record which a later row creates, such as a variant before its parent, are sent again after the others,
 * until a pass makes no progress.
 */
export const upsertAll = (send: Send, { late }: Resource, summary: Upsert.Summary): Send => {
  const pass = <E, R>(rows: Stream.Stream<Row, E, R>, count: number): Stream.Stream<RefusedRow, E | Failure, R> =>
    Stream.suspend(() => {
      const deferred: Array<RefusedRow> = []
      const first = send(rows).pipe(
        Stream.filter((refused) => {
          if (refused.reasons[0]?.code !== late || deferred.length >= maxDeferred) return true
          deferred.push(refused)
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
  return late === undefined ? send : (rows) => pass(rows, Number.POSITIVE_INFINITY)
}
