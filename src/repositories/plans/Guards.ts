import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Guard, PlanId } from "../../domain/plans/Plan.ts"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import type { Comparison } from "../../sql/Batch.ts"
import * as Statements from "./PlanStatements.ts"

interface Options {
  readonly plan: PlanId
  readonly filter: ReadonlyArray<Condition>
  /** Percent of the compared records that may be deleted. */
  readonly maxDeletes: number
  readonly deletions: number
}

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`

/** The safety checks that a plan does not pass. */
export const guardsOf = Effect.fnUntraced(function* (
  pooled: SqlClient.SqlClient,
  comparison: Comparison,
  { deletions, filter, maxDeletes, plan }: Options
) {
  const [counts] = yield* pooled<{ readonly rows: number; readonly refused: number }>`
    select count(*) filter (where kind <> 'delete')::int as rows,
      count(*) filter (where kind = 'refused')::int as refused from plan_rows where plan = ${plan}::uuid`
  const [compared] = yield* Statements.count(pooled, comparison, filter)
  const { records } = compared!
  const { refused, rows } = counts!
  const guards: Array<Guard> = []
  if (rows === 0) guards.push({ code: "emptyFile", message: "The file has no rows" })
  if (refused > 0) guards.push({ code: "refusedRows", message: `${counted(refused, "row")} cannot be written` })
  if (deletions * 100 > records * maxDeletes) {
    const message = `${deletions} of ${counted(records, "record")} would be deleted, which is more than ${maxDeletes} percent`
    guards.push({ code: "tooManyDeletes", message })
  }
  return guards
})
