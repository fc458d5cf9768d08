import { Effect, Result, Schedule, Stream, Struct } from "effect"
import type { Client } from "../../client/Client.ts"
import type { PlanId, PlanResource } from "../../domain/plans/Plan.ts"
import * as Failures from "../Failures.ts"
import type { Failure } from "../Failures.ts"
import type { Resource } from "../transfer/Resource.ts"
import type { Row } from "../transfer/Row.ts"
import type * as Upsert from "../transfer/Upsert.ts"

/** Rows in one plan: small enough to show progress, and to keep most of an import that is interrupted. */
const chunk = 2000

/** Plans at once: by default the service makes no more for one key. */
const concurrency = 2

interface Options {
  readonly summary: Upsert.Summary
  /** Whether nothing is applied. */
  readonly dryRun: boolean
}

const pageSize = 500

/** The rows of a plan that are refused, by their number in it. */
const refusedIn = Effect.fnUntraced(function* (client: Client["Service"], uuid: PlanId, count: number) {
  const pages = Array.from({ length: Math.ceil(count / pageSize) }, (_, index) => index + 1)
  const changes = yield* Effect.forEach(pages, (page) =>
    client.plans.changes({ params: { uuid }, query: { kind: "refused", limit: pageSize, page } })
  )
  return changes.flatMap(({ data }) => data)
})

/**
 * Sends rows in plans, which the service compares with its records and applies: rows that are equal are not written. Each plan
 * is applied as a whole, without the rows that are refused.
 */
export const upsertAll = (client: Client["Service"], resource: Resource, { dryRun, summary }: Options) => {
  /** Records that change while they are planned are planned again. */
  const planned = (lines: Uint8Array<ArrayBuffer>): Effect.Effect<Effect.Success<ReturnType<typeof once>>, Failure> =>
    Effect.retry(once(lines), {
      while: ({ _tag }) => _tag === "PlanOutdatedError",
      times: 5,
      schedule: Schedule.spaced("100 millis")
    })

  const once = Effect.fnUntraced(function* (lines: Uint8Array<ArrayBuffer>) {
    const name = resource.name as PlanResource
    const { counts, uuid } = yield* Failures.patiently(
      client.plans.create({ query: { resource: name }, payload: lines })
    )
    const params = { uuid }
    const refused = counts.refused === 0 ? [] : yield* refusedIn(client, uuid, counts.refused)
    const isApplied = !dryRun && counts.create + counts.update > 0
    yield* Failures.patiently<unknown>(
      isApplied ? client.plans.apply({ params, payload: { force: true } }) : client.plans.delete({ params })
      // A plan that is outdated would count among those of the key.
    ).pipe(Effect.onError(() => Effect.ignore(client.plans.delete({ params }))))
    return { counts, refused }
  })

  const send = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
    const lines = rows.flatMap(({ record }, index) =>
      Result.isSuccess(record) ? [JSON.stringify({ ...(record.success as object), _row: index + 1 })] : []
    )
    const unread = rows.flatMap((row) => (Result.isFailure(row.record) ? [{ row, reasons: row.record.failure }] : []))
    summary.refused += unread.length
    if (lines.length === 0) return unread
    const { counts, refused } = yield* planned(new TextEncoder().encode(lines.join("\n")))
    summary.created += counts.create
    summary.updated += counts.update
    summary.unchanged += counts.unchanged
    summary.refused += counts.refused
    const rejected = refused.map(({ issues = [], row }) => ({
      row: rows[row! - 1]!,
      reasons: issues.map(Struct.omit(["in"]))
    }))
    return [...unread, ...rejected]
  })

  return <E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<Upsert.RejectedRow, E | Failure, R> =>
    rows.pipe(
      Stream.grouped(chunk),
      Stream.mapEffect(send, { concurrency }),
      Stream.flatMap((rejected) => Stream.fromIterable(rejected))
    )
}
