import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { manyRecordsSeconds } from "../../domain/write/ManyRecords.ts"
import { patiently } from "./DatabaseSocket.ts"

/** Runs a statement of a transaction that reads or alters many records: it has as long as its request. Those after it have the usual time again. */
export const withLongTimeout = <A, E, R>(sql: SqlClient.SqlClient, statement: Effect.Effect<A, E, R>) => {
  const extended = sql`select set_config('statement_timeout', ${`${manyRecordsSeconds}s`}, true)`
  return Effect.andThen(extended, patiently(statement)).pipe(Effect.tap(sql`set local statement_timeout to default`))
}
