import { Duration, Effect, Option, PartitionedSemaphore } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { CurrentShare } from "../../domain/keys/Share.ts"
import type { Turn, Turns } from "../../sql/connections/FairPermits.ts"
import * as Queues from "../../sql/connections/Queues.ts"
import { lockSoonSql, transaction, write } from "../../sql/Transactions.ts"

/** How many small writes of a table run at once. */
const permits = 4

/** The longest pause of a share after a write with the lock. */
const maxPause = Duration.millis(250)

/** Writes that take less have no pause after them. */
const minPaused = Duration.millis(25)

/**
 * Ends as long after a write as the write took, while other shares work: one that replaces thousands of members takes most of a
 * processor here and of another one in the database.
 */
const paced = Effect.fnUntraced(function* <A, E>(written: Effect.Effect<A, E>) {
  const { isAlone } = yield* CurrentShare
  const [took, result] = yield* Effect.timed(written)
  if (!isAlone() && Duration.isGreaterThan(took, minPaused)) yield* Effect.sleep(Duration.min(took, maxPause))
  return result
})

/** Waits for neither of two turns while it has the other, which those that need only that one would wait for. */
const inBoth =
  (one: Turns, other: Turns): Turn =>
  <A, E, R>(write: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      for (;;) {
        const first = yield* other(one.ifFree(write))
        if (Option.isSome(first)) return first.value
        const second = yield* one(other.ifFree(write))
        if (Option.isSome(second)) return second.value
      }
    })

/**
 * Writes of join tables. A large one has the lock of the table, which keeps other writers out; small ones share it and lock the
 * records that they change. A write that waits too long for a lock gives its connection back. It waits for its turn in this process
 * before it takes a connection, and shares take turns.
 */
export const make = Effect.fnUntraced(function* (pooled: SqlClient.SqlClient) {
  const inQueue = yield* Queues.make
  const turns = new Map<string, PartitionedSemaphore.PartitionedSemaphore<string>>()
  const turnsOf = (table: string) => {
    const known = turns.get(table) ?? PartitionedSemaphore.makeUnsafe<string>({ permits })
    turns.set(table, known)
    return known
  }

  const lock = (table: string) => pooled`${lockSoonSql(table)}`

  /** The turn of all tables. */
  const turnOf = (tables: ReadonlyArray<string>, id: string): Turns => {
    const turns = tables.toSorted().map(turnsOf)
    return Object.assign(
      <A, E, R>(write: Effect.Effect<A, E, R>) =>
        turns.reduceRight((inner, turn) => turn.withPermits(id, permits)(inner), write),
      {
        ifFree: <A, E, R>(write: Effect.Effect<A, E, R>) =>
          turns.reduceRight(
            (inner, turn) => Effect.map(turn.withPermitsIfAvailable(permits)(inner), Option.flatten),
            Effect.asSome(write)
          )
      }
    )
  }

  return {
    /**
     * A transaction that no other write of the tables overlaps: two that write many rows from both sides could deadlock. It takes one
     * of the other turns as well, if there are any.
     */
    exclusively: Effect.fnUntraced(function* <A, E>(
      tables: ReadonlyArray<string>,
      effect: Effect.Effect<A, E>,
      others?: Turns
    ) {
      const { id } = yield* CurrentShare
      const outer = yield* Effect.serviceOption(pooled.transactionService)
      const locked = Effect.andThen(Effect.forEach(tables, lock), effect)
      const own = turnOf(tables, id)
      const turn = others === undefined ? own : inBoth(own, others)
      const written = transaction(pooled, locked, { waitsForLocks: true, turn })
      if (Option.isSome(outer)) return yield* written
      // The pause is outside the turn, which other shares wait for.
      return yield* inQueue(id, paced(written))
    }),
    /** A statement that takes its locks itself; none within a transaction, which keeps them. */
    shared: Effect.fnUntraced(function* <A>(table: string, statement: Effect.Effect<A, SqlError.SqlError>) {
      const { id } = yield* CurrentShare
      const outer = yield* Effect.serviceOption(pooled.transactionService)
      if (Option.isSome(outer)) return Option.none<A>()
      const written = Effect.orDie(write(pooled, statement, { waitsForLocks: true }))
      return Option.some(yield* turnsOf(table).withPermit(id)(written))
    })
  }
})
