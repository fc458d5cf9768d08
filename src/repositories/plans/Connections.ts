import { Effect } from "effect"
import { Surrounding } from "../../domain/write/SurroundingTransaction.ts"
import type { Sql } from "../../sql/Sql.ts"

/** How the statements of a plan run. */
export interface Connections extends Pick<Sql["Service"], "largePages" | "pooled"> {
  /** How many chunks are compared at once. */
  readonly concurrency: number
}

/**
 * The connections of a plan. Within the transaction of its request, they are that of the transaction: a request does not wait with it
 * for others, and the end of a chunk would undo what was stored of another one.
 */
export const make = ({ largePages, pooled }: Sql["Service"]) =>
  Effect.map(Surrounding, (surrounding): Connections =>
    surrounding === undefined
      ? { pooled, largePages, concurrency: 2 }
      : { pooled, largePages: (part) => part, concurrency: 1 }
  )
