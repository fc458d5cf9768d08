import { PgClient } from "@effect/sql-pg"
import { Effect, Option } from "effect"
import { type SqlClient, type SqlConnection, Statement } from "effect/sql"
import type * as FairPermits from "./FairPermits.ts"

/** A client whose statements and transactions take a permit of the current share, and a connection with it. */
export const make = (
  client: PgClient.PgClient,
  withPermit: ReturnType<typeof FairPermits.make>
): SqlClient.SqlClient => {
  const transaction = Effect.serviceOption(client.transactionService)
  const reserved: SqlConnection.Borrower = (use) => Effect.scoped(Effect.flatMap(client.reserve, use))
  const borrower: SqlConnection.Borrower = (use) =>
    Effect.flatMap(
      transaction,
      Option.match({
        onNone: () => withPermit(reserved(use)),
        onSome: ([connection]) => use(connection)
      })
    )
  // Streams are statements of maintenance, which has a client of its own.
  const acquirer = Effect.flatMap(
    transaction,
    Option.match({ onNone: () => client.reserve, onSome: ([connection]) => Effect.succeed(connection) })
  )
  const statement = Statement.make(acquirer, PgClient.makeCompiler(), spanAttributes, undefined, borrower)
  return Object.assign(statement, {
    ...client,
    ...statement,
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(transaction, (outer) =>
        Option.isSome(outer) ? client.withTransaction(effect) : withPermit(client.withTransaction(effect))
      )
  })
}

const spanAttributes = [
  ["db.system.name", "postgresql"],
  ["db.namespace", "postgres"]
] as const
