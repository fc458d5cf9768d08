import { Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import {
  type AppliedPlan,
  type Counts,
  type Guard,
  PlanGuardedError,
  type PlanId,
  type PlanMode,
  PlanNotFoundError,
  PlanOutdatedError,
  type PlanResource
} from "../../domain/plans/Plan.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { noPrecondition } from "../../domain/query/Precondition.ts"
import { CurrentTransaction, make as surround } from "../../domain/write/SurroundingTransaction.ts"
import { withLongTimeout } from "../../sql/connections/ManyRecords.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { run } from "../bulk/Bulk.ts"
import { decodeEach } from "../../domain/write/DecodeEach.ts"
import type { DecodedOperation } from "../bulk/Decoding.ts"
import { isFailed } from "../bulk/Outcomes.ts"
import type { BulkResource } from "../bulk/Resource.ts"
import * as Statements from "./PlanStatements.ts"

/** What a plan is about, and what applying it depends on. */
export interface PlanFacts {
  readonly resource: PlanResource
  readonly mode: PlanMode
  readonly counts: Counts
  readonly guards: ReadonlyArray<Guard>
  readonly isApplied: boolean
  /** Whether it writes rows of join tables. */
  readonly locks: boolean
  /** The permissions that its rows need. */
  readonly permissions: ReadonlyArray<Permission>
}

interface ApplyRequest {
  readonly force: boolean
  readonly requestId: string
}

export type Apply = (
  uuid: PlanId,
  facts: PlanFacts,
  resource: BulkResource,
  request: ApplyRequest
) => Effect.Effect<AppliedPlan, PlanNotFoundError | PlanOutdatedError | PlanGuardedError>

export const factsSql = sql`p.resource, p.mode, p.counts, p.guards, p.applied_at is not null as "isApplied",
  (p.options->>'locks')::boolean as locks, p.options->'permissions' as permissions`

/** Rows that are written together. */
const chunk = 1000

/** Applies plans: each in one transaction, exactly as it was shown, or not at all. */
export const make =
  (pooled: SqlClient.SqlClient, isLive: Fragment): Apply =>
  (uuid, { locks }, resource, { force, requestId }) => {
    const { batch, create, patch } = resource
    const comparison = batch.comparison!

    const operationOf = ({ data, kind, record }: Statements.PlannedWrite): DecodedOperation => {
      if (kind === "delete") return { op: "delete", uuid: record!, precondition: noPrecondition }
      return Result.match(kind === "create" ? create(data) : patch(data), {
        onFailure: (error): DecodedOperation => ({ op: "rejected", error }),
        onSuccess: (payload) =>
          kind === "create"
            ? { op: "create", payload }
            : { op: "update", uuid: record!, payload, precondition: noPrecondition }
      })
    }

    const write = Effect.gen(function* () {
      const [plan] = yield* pooled<PlanFacts>`
        select ${factsSql} from plans p where p.uuid = ${uuid}::uuid and p.is_ready and ${isLive} for update`
      if (plan === undefined) return yield* PlanNotFoundError.of(uuid)
      const { counts, guards, isApplied } = plan
      if (isApplied) return { uuid, counts }
      if (guards.length > 0 && !force) return yield* PlanGuardedError.of(guards)
      yield* withLongTimeout(pooled, Statements.lock(pooled, comparison, uuid))
      // All that was logged since the plan was begun is looked at.
      const outdated = yield* withLongTimeout(pooled, Statements.outdated(pooled, comparison, uuid))
      if (outdated.length > 0) return yield* PlanOutdatedError.of(outdated.map(({ key }) => key))
      const readAfter = (place: number) => Statements.writes(pooled, uuid, place, chunk)
      let rows = yield* readAfter(-1)
      let operations = yield* decodeEach(rows, operationOf)
      while (rows.length > 0) {
        const next = yield* readAfter(rows.at(-1)!.place)
        // They are decoded while PostgreSQL writes those before them.
        const [outcomes, decoded] = yield* Effect.all(
          [run(pooled, resource, { operations, requestId }), decodeEach(next, operationOf)],
          { concurrency: 2 }
        )
        // What the plan found to be possible no longer is.
        const failed = outcomes.all().filter(isFailed)
        if (failed.length > 0) return yield* PlanOutdatedError.of(failed.map(({ index }) => rows[index]!.key))
        rows = next
        operations = decoded
      }
      yield* pooled`update plans set applied_at = now() where uuid = ${uuid}::uuid`
      return { uuid, counts }
    })

    return batch.transaction(write, { locks }).pipe(
      Effect.provideService(CurrentTransaction, surround()),
      // Any other failure is no answer of the operation.
      Effect.catch((error) =>
        error instanceof PlanNotFoundError || error instanceof PlanOutdatedError || error instanceof PlanGuardedError
          ? Effect.fail(error)
          : Effect.die(error)
      )
    )
  }
