import { PgClient } from "@effect/sql-pg"
import { Effect, Option } from "effect"
import { type SqlClient, type SqlConnection, Statement } from "effect/sql"
import { CurrentTransaction } from "../../domain/write/SurroundingTransaction.ts"
import { changeSetting } from "../ChangeSetting.ts"
import type { Turn } from "./FairPermits.ts"

/**
 * A client whose statements and transactions take a permit of the current share, and a connection with it. A transaction
 * begins with the setting that says who makes its changes. A stream outside a transaction takes a connection without a permit.
 */
export const make = (client: PgClient.PgClient, withPermit: Turn): SqlClient.SqlClient => {
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
  // Only maintenance streams, which has a client of its own.
  const acquirer = Effect.flatMap(
    transaction,
    Option.match({ onNone: () => client.reserve, onSome: ([connection]) => Effect.succeed(connection) })
  )
  const statement = Statement.make(acquirer, PgClient.makeCompiler(), spanAttributes, undefined, borrower)
  const withChange = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.andThen(
      Effect.flatMap(changeSetting, (setting) => client`select ${setting}`),
      effect
    )
  /** What the work within a surrounding transaction changes can have another cause than that transaction. */
  const withOwnChange = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(CurrentTransaction, (surrounding) => (surrounding === undefined ? effect : withChange(effect)))
  return Object.assign(statement, {
    ...client,
    ...statement,
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(transaction, (outer) =>
        Option.isSome(outer)
          ? client.withTransaction(withOwnChange(effect))
          : withPermit(client.withTransaction(withChange(effect)))
      )
  })
}

const spanAttributes = [
  ["db.system.name", "postgresql"],
  ["db.namespace", "postgres"]
] as const
