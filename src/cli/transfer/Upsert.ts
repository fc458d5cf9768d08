import { Effect, Predicate, Result, Schema, Stream, Struct } from "effect"
import { describe } from "../../domain/write/Issues.ts"
import { readOnlyMembers } from "../../domain/write/Shape.ts"
import type { Failure } from "../Failures.ts"
import * as Failures from "../Failures.ts"
import type { Resource } from "./Resource.ts"
import type { Reason, Row } from "./Row.ts"
import { covers } from "./Rows.ts"
import * as Turns from "../upload/Turns.ts"

/** What became of the rows. */
export interface Summary {
  created: number
  updated: number
  unchanged: number
  refused: number
}

/** Nothing has become of any row yet. The import counts in it, so that others can watch. */
export const nothing = (): Summary => ({ created: 0, updated: 0, unchanged: 0, refused: 0 })

export const rowsOf = ({ created, refused, unchanged, updated }: Summary): number =>
  created + updated + unchanged + refused

/** A row that did not become a record, and why. */
export interface Refusal {
  readonly row: Row
  readonly reasons: ReadonlyArray<Reason>
}

type Outcome = Exclude<keyof Summary, "refused"> | ReadonlyArray<Reason>

/** The calls of a resource on one service. */
export type Calls = ReturnType<Resource["calls"]>

/** Checks a row with the schema that the service will check it with; nothing that fails here is sent. */
const validator = ({ create }: Resource) => {
  const decode = Schema.decodeUnknownResult(create, { onExcessProperty: "error", errors: "all" })
  return (row: Row): Result.Result<unknown, ReadonlyArray<Reason>> =>
    Result.flatMap(row.record, (record) =>
      Result.mapError(decode(record), ({ issue }) => describe(issue, "body").map(Struct.omit(["in"])))
    )
}

/** Creates the record, or changes the one that has its key. What the row leaves out stays as it is. */
const upsert = ({ create, duplicate, has = covers, key, record }: Resource, calls: Calls) => {
  const encode = Schema.encodeUnknownEffect(create)
  const readOnly = readOnlyMembers(create)
  const encodeRecord = Schema.encodeUnknownEffect(record)
  return Effect.fnUntraced(function* (payload: unknown): Effect.fn.Return<Outcome, Failure> {
    const wanted = (yield* encode(payload)) as Readonly<Record<string, unknown>>
    const conflict = yield* calls.create(payload).pipe(
      Effect.as(undefined),
      Effect.catchIf(({ _tag }) => _tag === duplicate, Effect.succeed)
    )
    if (conflict === undefined) return "created"
    const filter = [{ field: key, operator: "equals", value: String(wanted[key]) }] as const
    const { data } = yield* calls.list({ limit: 1, page: 1, sortBy: "createdAt", sortOrder: "asc", filter })
    const existing = data[0] === undefined ? undefined : yield* encodeRecord(data[0])
    // It was deleted between the two requests; the person who runs this decides what that means.
    if (!Predicate.isObject(existing)) return yield* Effect.fail(conflict)
    if (has(existing, Struct.omit(wanted, readOnly))) return "unchanged"
    yield* calls.update(String(existing["uuid"]), payload)
    return "updated"
  })
}

/**
 * Sends every row, `concurrency` at a time, and counts in `summary`. The first failure that concerns all rows ends it;
 * running it again does no harm.
 */
export const upsertAll =
  (resource: Resource, calls: Calls, options: { readonly concurrency: number; readonly summary: Summary }) =>
  <E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<Refusal, E | Failure, R> =>
    Stream.suspend(() => {
      const validate = validator(resource)
      const write = upsert(resource, calls)
      // The last row of a key wins, so they go in the order of the file.
      const takeTurn = Turns.make()
      const send = (payload: unknown) =>
        write(payload).pipe(
          Failures.patiently,
          Effect.catchIf(
            (failure) => !Failures.concernsAll(failure),
            (failure) => Effect.succeed(Failures.reasonsOf(failure))
          )
        )
      const plan = (row: Row): Effect.Effect<readonly [Row, Outcome], Failure> => {
        const valid = validate(row)
        if (Result.isFailure(valid)) return Effect.succeed([row, valid.failure])
        const turn = takeTurn(String((valid.success as Readonly<Record<string, unknown>>)[resource.key]))
        return Effect.map(turn(send(valid.success)), (outcome) => [row, outcome])
      }
      return rows.pipe(
        // The turns are taken here, one row after the other; what is planned may then run side by side.
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
