import { Context, type Effect } from "effect"

/**
 * The transaction around a write that can be repeated or that is only validated. The write leaves to it what must not happen
 * before the commit.
 */
export interface SurroundingTransaction {
  /** Headers of the answer. */
  readonly headers: Map<string, string>
  /** Runs once the transaction is committed. */
  readonly afterCommit: Array<Effect.Effect<void>>
}

export const make = (): SurroundingTransaction => ({ headers: new Map(), afterCommit: [] })

/** The transaction around the current write; none around most writes. */
export const CurrentTransaction = Context.Reference<SurroundingTransaction | undefined>(
  "waypost/domain/write/SurroundingTransaction/CurrentTransaction",
  { defaultValue: () => undefined }
)
