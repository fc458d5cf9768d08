import { Cause, Data, Effect, Exit } from "effect"
import type { SqlClient } from "effect/sql"
import { noPrecondition } from "../../domain/query/Precondition.ts"
import type { Outcome } from "../../domain/write/Bulk.ts"
import { CurrentTransaction, make as surround } from "../../domain/write/SurroundingTransaction.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import { Sql } from "../../sql/Sql.ts"
import type { DecodedOperation, Upsert } from "./Decoding.ts"
import * as Outcomes from "./Outcomes.ts"
import type { BulkResource } from "./Resource.ts"
import * as Segments from "./Segments.ts"
import * as Together from "./Together.ts"

interface Request {
  readonly operations: ReadonlyArray<DecodedOperation>
  readonly isAtomic: boolean
  readonly requestId: string
}

/** What the operations answer, and whether they took effect. */
interface Answer {
  readonly outcomes: ReadonlyArray<Outcome>
  readonly applied: boolean
}

/** Ends the transaction of an atomic request that failed. */
class Undone extends Data.TaggedError("Undone")<{ readonly outcomes: ReadonlyArray<Outcome> }> {}

/**
 * Writes many records in one transaction, with the outcomes that the operations have one by one.
 *
 * Operations that follow each other and do not depend on their order are written with a statement for all. What such a
 * statement leaves out, or cannot do, is done by the operation on one record, so that rules and errors are in one place.
 */
export const make = Effect.map(
  Sql,
  ({ pooled }) =>
    (resource: BulkResource, request: Request): Effect.Effect<Answer> =>
      Effect.flatMap(CurrentTransaction, (surrounding) =>
        resource.batch
          .transaction(answerOf(pooled, resource, request), { locks: locksRelations(resource.batch, request) })
          .pipe(
            Effect.provideService(CurrentTransaction, surrounding ?? surround()),
            Effect.map((outcomes): Answer => ({ outcomes, applied: true })),
            Effect.catchIf(
              (error): error is Undone => error instanceof Undone,
              ({ outcomes }) =>
                Effect.succeed({ outcomes: outcomes.map(Outcomes.undone(request.requestId)), applied: false })
            ),
            // Any other failure is no answer of an operation.
            Effect.catch(Effect.die)
          )
      )
)

const answerOf = Effect.fnUntraced(function* (
  pooled: SqlClient.SqlClient,
  resource: BulkResource,
  { isAtomic, ...request }: Request
) {
  const outcomes = (yield* run(pooled, resource, request)).all()
  return isAtomic && outcomes.some(Outcomes.isFailed) ? yield* new Undone({ outcomes }) : outcomes
})

/** Does operations in the transaction around it. */
export const run = Effect.fnUntraced(function* (
  pooled: SqlClient.SqlClient,
  resource: BulkResource,
  { operations, requestId }: Omit<Request, "isAtomic">
) {
  const outcomes = Outcomes.make(operations.length, requestId)
  const together = Together.make(pooled, resource, operations, outcomes)

  let steps = 0
  /** What a step alters is an event of its own for each record. */
  const beginStep = Effect.suspend(() =>
    steps++ === 0 ? Effect.void : Effect.asVoid(pooled`select set_config('waypost.step', ${String(steps)}::text, true)`)
  )

  const alone = Effect.fnUntraced(function* (index: number) {
    const operation = operations[index]!
    yield* beginStep
    const exit = yield* Effect.exit(pooled.withTransaction(writeAlone(pooled, resource, operation)))
    if (Exit.isSuccess(exit)) return outcomes.accept(index, exit.value)
    const failures = exit.cause.reasons.map((reason) =>
      Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    )
    if (!failures.some((failure) => outcomes.reject(index, failure))) return yield* Effect.failCause(exit.cause)
  })

  let size = Segments.maxSize
  for (let next = 0; next < operations.length;) {
    const { indexes, isRemoval } = Segments.from(operations, next, { size, deletes: resource.batch.deletes })
    yield* beginStep
    const { left, taken } = yield* (isRemoval ? together.remove : together.write)(indexes)
    for (const index of taken === 0 ? [next] : left) yield* alone(index)
    next += Math.max(1, taken)
    // An operation that depends on the order ends a segment; many of them would have the records looked for many times.
    size = taken < indexes.length ? Math.max(1, taken) : Math.min(Segments.maxSize, size * 2)
  }
  return outcomes
})

/** What one operation on its own does. */
const writeAlone = (pooled: SqlClient.SqlClient, resource: BulkResource, operation: DecodedOperation) => {
  const { writes } = resource
  switch (operation.op) {
    case "create":
      return writes.create(operation.payload)
    case "update":
      return writes.update(operation.uuid, operation.payload, operation.precondition)
    case "upsert":
      return upsertAlone(pooled, resource, operation)
    case "delete":
      return writes.delete(operation.uuid, operation.precondition)
    case "rejected":
      return Effect.fail(operation.error)
  }
}

const upsertAlone = Effect.fnUntraced(function* (
  pooled: SqlClient.SqlClient,
  { batch, create, patch, writes }: BulkResource,
  { data, key }: Upsert
) {
  const locate = Effect.map(batch.locate([{ key }]), ([found]) => found)
  const update = Effect.fnUntraced(function* (uuid: string) {
    return yield* writes.update(uuid, yield* Effect.fromResult(patch(data)), noPrecondition)
  })
  const found = yield* locate
  if (found !== undefined) return yield* update(found.uuid)
  const payload = yield* Effect.fromResult(create(data))
  return yield* pooled.withTransaction(writes.create(payload)).pipe(
    // Another request may have created the record since it was looked for.
    Effect.catchCause((cause) =>
      Effect.flatMap(locate, (later) => (later === undefined ? Effect.failCause(cause) : update(later.uuid)))
    )
  )
})

/** Whether an operation writes rows of join tables. */
export const locksRelations = ({ relations }: Batch, { operations }: Pick<Request, "operations">) =>
  operations.some(
    (operation) =>
      operation.op === "delete" || relations.some((member) => Segments.valueOf(operation, member) !== undefined)
  )
