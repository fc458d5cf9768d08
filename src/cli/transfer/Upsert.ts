import { Effect, Predicate, Result, Schema, Stream, Struct } from "effect"
import { memberOf } from "../../domain/schema/Json.ts"
import { readOnlyMembers } from "../../domain/write/Shape.ts"
import type { Failure } from "../Failures.ts"
import type { RefusedRow } from "../files/RefusedRows.ts"
import * as Failures from "../Failures.ts"
import type { Resource } from "./Resource.ts"
import { type Reason, reasonsIn, type Row } from "../files/Row.ts"
import { covers } from "../../domain/files/Rows.ts"
import * as InOrder from "../InOrder.ts"

/** The number of rows by outcome. */
export interface Summary {
  created: number
  updated: number
  unchanged: number
  refused: number
}

/** A summary of no rows, which the import updates while it runs. */
export const emptySummary = (): Summary => ({ created: 0, updated: 0, unchanged: 0, refused: 0 })

export const rowsOf = ({ created, refused, unchanged, updated }: Summary): number =>
  created + updated + unchanged + refused

type Outcome = Exclude<keyof Summary, "refused"> | ReadonlyArray<Reason>

/** The API calls of a resource. */
export type Calls = { readonly list: ReturnType<Resource["list"]> } & ReturnType<NonNullable<Resource["writes"]>>

/** Validates a row with the schema of the service before it is sent. */
export const validator = ({ create }: Resource) => {
  const decode = Schema.decodeUnknownResult(create, { onExcessProperty: "error", errors: "all" })
  return (row: Row): Result.Result<unknown, ReadonlyArray<Reason>> =>
    Result.flatMap(row.record, (record) => Result.mapError(decode(record), ({ issue }) => reasonsIn(issue)))
}

/** Creates the record, or updates the one with the same key. Members that the row omits are unchanged. */
const upsert = ({ create, duplicate, has = covers, key, record }: Resource, calls: Calls) => {
  const encode = Schema.encodeUnknownEffect(create)
  const readOnly = readOnlyMembers(create)
  const encodeRecord = Schema.encodeUnknownEffect(record)
  return Effect.fnUntraced(function* (payload: unknown): Effect.fn.Return<Outcome, Failure> {
    const wanted = yield* encode(payload)
    const conflict = yield* calls.create(payload).pipe(
      Effect.as(undefined),
      Effect.catchIf(({ _tag }) => _tag === duplicate, Effect.succeed)
    )
    if (conflict === undefined) return "created"
    const filter = [{ field: key, operator: "equals", value: String(wanted[key]) }] as const
    const { data } = yield* calls.list({ limit: 1, sortBy: "createdAt", sortOrder: "asc", filter })
    const existing = data[0] === undefined ? undefined : yield* encodeRecord(data[0])
    // The record was deleted between the two requests: report the conflict.
    if (existing === undefined) return yield* Effect.fail(conflict)
    if (has(existing, Struct.omit(wanted, readOnly))) return "unchanged"
    yield* calls.update(String(existing["uuid"]), payload)
    return "updated"
  })
}

/**
 * Sends every row, `concurrency` at a time, and updates `summary`. The first failure that affects all rows ends the stream;
 * running it again is safe.
 */
export const upsertAll =
  (resource: Resource, calls: Calls, options: { readonly concurrency: number; readonly summary: Summary }) =>
  <E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<RefusedRow, E | Failure, R> =>
    Stream.suspend(() => {
      const validate = validator(resource)
      const write = upsert(resource, calls)
      // Keys in the file differ, but `--default` can give the same key to several rows: they are sent in the order of the file.
      const inTurn = InOrder.make()
      const send = (payload: unknown) =>
        write(payload).pipe(
          Failures.retriedWhileBusy,
          Effect.catchIf(
            (failure) => !Failures.concernsAll(failure),
            (failure) => Effect.succeed(Failures.reasonsOf(failure))
          )
        )
      const plan = (row: Row): Effect.Effect<readonly [Row, Outcome], Failure> => {
        const valid = validate(row)
        if (Result.isFailure(valid)) return Effect.succeed([row, valid.failure])
        const turn = inTurn(String(memberOf(valid.success, resource.key)))
        return Effect.map(turn(send(valid.success)), (outcome) => [row, outcome])
      }
      return rows.pipe(
        // The order is fixed here, row by row; the planned effects then run concurrently.
        Stream.map(plan),
        Stream.mapEffect((planned) => planned, { concurrency: options.concurrency, unordered: true }),
        Stream.tap(([, outcome]) =>
          Effect.sync(() => {
            options.summary[Predicate.isString(outcome) ? outcome : "refused"]++
          })
        ),
        Stream.flatMap(([row, outcome]) =>
          Predicate.isString(outcome) ? Stream.empty : Stream.succeed({ row, reasons: outcome })
        )
      )
    })
