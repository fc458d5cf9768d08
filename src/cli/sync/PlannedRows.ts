import { Effect, Schedule, Stream } from "effect"
import { memberOf } from "../../domain/schema/Json.ts"
import type { Client } from "../../client/Client.ts"
import type { Counts, PlanChange, PlanId } from "../../domain/plans/Plan.ts"
import { maxLimit } from "../../domain/query/PageLimit.ts"
import type { Issue } from "../../domain/write/RequestErrors.ts"
import * as Failures from "../Failures.ts"
import type { Failure } from "../Failures.ts"
import type { RefusedRow } from "../files/RefusedRows.ts"
import type { CreatedKeys } from "../transfer/DryRun.ts"
import type { Resource } from "../transfer/Resource.ts"
import type { Reason, Row } from "../files/Row.ts"
import type * as Upsert from "../transfer/Upsert.ts"
import * as CreatedRows from "./CreatedRows.ts"
import * as Parts from "./Parts.ts"
import * as PlanRecords from "./PlanRecords.ts"

/** Rows in one plan: small enough to show progress, and to keep most of an import that is interrupted. */
const chunk = 2000

const isOutdated = ({ _tag }: Failure) => _tag === "PlanOutdatedError"

/** Records that change while they are planned are planned again. */
const retries = { while: isOutdated, times: 2, schedule: Schedule.spaced("100 millis") }

/** Bytes in one plan, of which records with long texts reach more than a request may have. */
const maxBytes = 8 * 1024 ** 2

/** Plans at once: by default the service makes no more for one key. */
const concurrency = 2

interface Options {
  readonly summary: Upsert.Summary
  /** The keys of the records that a dry run would create; without them the plans are applied. */
  readonly created: CreatedKeys | undefined
  /** Sends rows one by one, if a plan cannot do what some of them say. */
  readonly single: ((rows: Stream.Stream<Row>) => Stream.Stream<RefusedRow, Failure>) | undefined
}

/** The rows of a plan that are refused, by their number in it. */
const refusedIn = Effect.fnUntraced(function* (client: Client["Service"], uuid: PlanId, count: number) {
  const pages = Array.from({ length: Math.ceil(count / maxLimit) }, (_, index) => index + 1)
  const changes = yield* Effect.forEach(pages, (page) =>
    Failures.retriedWhileBusy(
      client.plans.changes({ params: { uuid }, query: { kind: "refused", limit: maxLimit, page } })
    )
  )
  return changes.flatMap(({ data }) => data)
})

/** The problems of a record as a whole have no path. */
const reasonOf = ({ code, message, path }: Issue): Reason => ({ ...(path !== "" && { path }), code, message })

/** What plans did: how many records they created, and the rows that were refused. */
interface Sent {
  readonly created: number
  readonly refused: ReadonlyArray<RefusedRow>
}

const together = (sent: ReadonlyArray<Sent>): Sent => ({
  created: sent.reduce((sum, { created }) => sum + created, 0),
  refused: sent.flatMap(({ refused }) => refused)
})

const encoder = new TextEncoder()

/** A record with its line in a plan, and the number that the line has. */
interface PlanLine extends PlanRecords.RowRecord {
  readonly number: number
  readonly line: Uint8Array
}

/** The lines of records, in parts that a plan takes. */
const partsOf = (records: ReadonlyArray<PlanRecords.RowRecord>) =>
  Parts.divide(
    records.map(({ record, row }, index): PlanLine => {
      const number = index + 1
      return { row, record, number, line: encoder.encode(`${JSON.stringify({ ...record, _row: number })}\n`) }
    }),
    { sizeOf: ({ line }) => line.length, maxSize: maxBytes }
  )

/**
 * Sends rows in plans, which the service compares with its records and applies: rows that are equal are not written. Each plan
 * is applied as a whole, without the rows that are refused. While nearly all rows are new, they are created first.
 */
export const upsertAll = (client: Client["Service"], resource: Resource, { created, single, summary }: Options) => {
  const { choose, read, resolve } = PlanRecords.make(client, resource)
  const creation = CreatedRows.make(client, resource, summary)

  /** Plans rows and applies the plan, again if records change in between. */
  const plan = Effect.fnUntraced(function* (part: ReadonlyArray<PlanLine>) {
    const lines = new Uint8Array(Buffer.concat(part.map(({ line }) => line)))
    const { counts, uuid } = yield* Failures.retriedWhileBusy(
      client.plans.create({ query: { resource: resource.name }, payload: lines })
    )
    const params = { uuid }
    const isApplied = created === undefined && counts.create + counts.update > 0
    const end = Failures.retriedWhileBusy<unknown>(
      isApplied ? client.plans.apply({ params, payload: { force: true } }) : client.plans.delete({ params })
    )
    const rows = counts.refused === 0 ? Effect.succeed([]) : refusedIn(client, uuid, counts.refused)
    // A plan that stays, such as one that is outdated, would count among those of the key.
    const refused = yield* Effect.onError(Effect.tap(rows, end), () => Effect.ignore(client.plans.delete({ params })))
    return { counts, refused }
  }, Effect.retry(retries))

  const sendPart = (part: ReadonlyArray<PlanLine>): Effect.Effect<Sent, Failure> =>
    Effect.matchEffect(plan(part), {
      onSuccess: ({ counts, refused }) =>
        Effect.sync(() => ({ created: counts.create, refused: outcomes(part, counts, refused) })),
      onFailure: (failure) => {
        if (!isOutdated(failure)) return Effect.fail<Failure>(failure)
        const [first] = part
        // A record that others change all the time, which is no reason to leave the other rows.
        if (first !== undefined && part.length === 1) {
          return Effect.succeed({ created: 0, refused: [{ row: first.row, reasons: Failures.reasonsOf(failure) }] })
        }
        // Two rows that give two records the same unique value: planned one after the other, the later one is refused.
        const middle = part.length >> 1
        return Effect.map(Effect.forEach([part.slice(0, middle), part.slice(middle)], sendPart), together)
      }
    })

  const outcomes = (part: ReadonlyArray<PlanLine>, counts: Counts, changes: ReadonlyArray<PlanChange>) => {
    summary.created += counts.create
    summary.updated += counts.update
    summary.unchanged += counts.unchanged
    const refused = new Map(changes.map(({ issues = [], row }) => [row!, issues.map(reasonOf)] as const))
    return part.flatMap(({ number, record, row }): ReadonlyArray<RefusedRow> => {
      const reasons = refused.get(number)
      if (reasons === undefined) created?.add(memberOf(record, resource.key))
      return reasons === undefined ? [] : [{ row, reasons }]
    })
  }

  /** A dry run takes rows for created that name a record which the file creates and the service does not have. */
  const isAssumed = ({ reasons: [reason] }: RefusedRow) =>
    reason !== undefined && reason.code === resource.late && created?.has(reason.reference) === true

  const send = Effect.fnUntraced(function* (
    rows: ReadonlyArray<Row>
  ): Effect.fn.Return<ReadonlyArray<RefusedRow>, Failure> {
    const { records, refused } = read(rows)
    const { left, planned } = yield* choose(records)
    const resolved = yield* resolve(planned)
    const unresolved = resolved.refused.filter((one) => !isAssumed(one))
    summary.created += resolved.refused.length - unresolved.length
    // A dry run creates nothing.
    const others = created === undefined ? yield* creation.create(resolved.records) : resolved.records
    const sent = together(yield* Effect.forEach(partsOf(others), sendPart))
    creation.learn(resolved.records.length - others.length + sent.created, resolved.records.length)
    const all = [...refused, ...unresolved, ...sent.refused]
    summary.refused += all.length
    if (left.length === 0 || single === undefined) return all
    return [...all, ...(yield* Stream.runCollect(single(Stream.fromIterable(left))))]
  })

  return <E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<RefusedRow, E | Failure, R> =>
    rows.pipe(
      Stream.grouped(resource.chunk ?? chunk),
      Stream.mapEffect(send, { concurrency }),
      Stream.flatMap((refused) => Stream.fromIterable(refused))
    )
}
