import { Effect, Option, PartitionedSemaphore } from "effect"
import type { SqlClient } from "effect/sql"
import { CurrentShare } from "../../domain/keys/Share.ts"
import { transaction } from "../../sql/SqlErrors.ts"

/**
 * Transactions that write join tables, one at a time for each table: two that write it from both sides could deadlock.
 *
 * Such a transaction waits for its turn in this process before it takes a connection, and shares take turns. The lock keeps
 * the writers of other processes out; one that waits too long gives its connection back.
 */
export const make = (pooled: SqlClient.SqlClient) => {
  const turns = new Map<string, PartitionedSemaphore.PartitionedSemaphore<string>>()
  const turnsOf = (table: string) => {
    const known = turns.get(table) ?? PartitionedSemaphore.makeUnsafe<string>({ permits: 1 })
    turns.set(table, known)
    return known
  }

  const lock = (table: string) => pooled`
    select set_config('lock_timeout', '250ms', true), pg_advisory_xact_lock(hashtext('waypost'), hashtext(${table}))`

  return Effect.fnUntraced(function* <A, E>(tables: ReadonlyArray<string>, write: Effect.Effect<A, E>) {
    const { id } = yield* CurrentShare
    const outer = yield* Effect.serviceOption(pooled.transactionService)
    const locked = Effect.andThen(Effect.forEach(tables, lock), write)
    const written = transaction(pooled, locked, { waitsForLocks: true })
    if (Option.isSome(outer)) return yield* written
    const inTurn = tables.toSorted().reduceRight((inner, table) => turnsOf(table).withPermit(id)(inner), written)
    return yield* inTurn
  })
}
