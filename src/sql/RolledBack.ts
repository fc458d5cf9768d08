import { Data, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { transaction } from "./Transactions.ts"

/** Ends the transaction of a write that is rolled back. */
class RolledBack extends Data.TaggedError("RolledBack")<{ readonly value: unknown }> {}

/** The value of a write, constraints that are checked at the commit included, in a transaction that is rolled back. */
export const rolledBack = <A, E, R>(
  sql: SqlClient.SqlClient,
  write: Effect.Effect<A, E, R>,
  run: <B, F>(ended: Effect.Effect<B, F, R>) => Effect.Effect<B, Exclude<F, SqlError.SqlError>, R> = (ended) =>
    transaction(sql, ended, { waitsForLocks: true })
): Effect.Effect<A, Exclude<E, SqlError.SqlError>, R> =>
  Effect.gen(function* () {
    const value = yield* sql.withTransaction(write)
    yield* sql`set constraints all immediate`
    return yield* new RolledBack({ value })
  }).pipe(
    run,
    Effect.catchIf(
      (error): error is RolledBack => error instanceof RolledBack,
      ({ value }) => Effect.succeed(value as A)
    )
  ) as Effect.Effect<A, Exclude<E, SqlError.SqlError>, R>
