import { PgClient } from "@effect/sql-pg"
import { type Cause, Context, Effect } from "effect"
import { type SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { isTooSlow } from "../SqlErrors.ts"
import type { Pools } from "./Pools.ts"

/** A streaming replica that answers reads. */
export interface Replica {
  readonly pools: Pools
  /** Says that a statement failed on it. */
  readonly failed: (error: SqlError.SqlError) => void
}

/** The replica that answers the current request; the primary does if there is none. */
export const CurrentReplica = Context.Reference<Replica | undefined>(
  "waypost/sql/connections/ReplicaReads/CurrentReplica",
  { defaultValue: () => undefined }
)

/** The error of the database, whether a caller expects it or not. */
const errorOf = ({ reasons }: Cause.Cause<unknown>) =>
  reasons
    .map((reason) => (reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined))
    .find(SqlError.isSqlError)

/**
 * Reads from the replica of the request. What it cannot answer, because it ended, fell behind the tables or cancelled the
 * statement for what it replays, the primary answers. A statement that took too long there would here too.
 */
const route = <A, E, R>(
  primary: Effect.Effect<A, E, R>,
  replicated: (pools: Pools) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentReplica, (replica) =>
    replica === undefined
      ? primary
      : Effect.catchCause(replicated(replica.pools), (cause) => {
          const error = errorOf(cause)
          if (error === undefined || isTooSlow(error)) return Effect.failCause(cause)
          replica.failed(error)
          return primary
        })
  )

/** A client whose statements outside of transactions go to the replica of the request, if it has one. */
const routed = (primary: SqlClient.SqlClient, of: (pools: Pools) => SqlClient.SqlClient): SqlClient.SqlClient => {
  const run = <A>(read: (client: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>) =>
    route(read(primary), (pools) => read(of(pools)))
  const connection: SqlConnection.Connection = {
    execute: (sql, values) => run((client) => client.unsafe(sql, values)),
    executeUnprepared: (sql, values) => run((client) => client.unsafe(sql, values).unprepared),
    executeRaw: (sql, values) => run((client) => client.unsafe(sql, values).raw),
    executeValues: (sql, values) => run((client) => client.unsafe(sql, values).values),
    executeValuesUnprepared: (sql, values) => run((client) => client.unsafe(sql, values).valuesUnprepared),
    executeStream: (sql, values) => primary.unsafe<never>(sql, values).stream
  }
  const statement = Statement.make(Effect.succeed(connection), PgClient.makeCompiler(), [], undefined)
  return Object.assign(statement, {
    ...primary,
    ...statement,
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      primary.withTransaction(Effect.provideService(effect, CurrentReplica, undefined))
  })
}

/** The pools of the primary, from which requests with a replica do not read. */
export const make = (primary: Pools): Pools => ({
  pipelined: routed(primary.pipelined, ({ pipelined }) => pipelined),
  pooled: routed(primary.pooled, ({ pooled }) => pooled),
  search: (run) => route(primary.search(run), ({ search }) => search(run))
})
