import { Effect } from "effect"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import { CurrentTransaction } from "../../domain/write/SurroundingTransaction.ts"
import type { Sql } from "../../sql/Sql.ts"

/** How the statements of a plan run. */
export interface Connections extends Pick<Sql["Service"], "largePages" | "pooled"> {
  /** Runs a statement that evaluates the filter of the plan, which may take long. */
  readonly filtered: Sql["Service"]["search"]
  /** How many chunks are compared at once. */
  readonly concurrency: number
}

/**
 * The connections of a plan with a filter. Within the transaction of its request, they are that of the transaction: a request does
 * not wait with it for others, and the end of a chunk would undo what was stored of another one.
 */
export const make = ({ largePages, pooled, search }: Sql["Service"], filter: ReadonlyArray<Condition>) =>
  Effect.map(CurrentTransaction, (surrounding): Connections => {
    const filtered: Connections["filtered"] = (run) => run(pooled)
    return surrounding === undefined
      ? { pooled, largePages, filtered: filter.length === 0 ? filtered : search, concurrency: 2 }
      : { pooled, largePages: (part) => part, filtered, concurrency: 1 }
  })
