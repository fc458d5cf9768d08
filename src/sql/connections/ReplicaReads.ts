import { PgClient } from "@effect/sql-pg"
import { type Cause, Context, Effect } from "effect"
import { type SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { isTooSlow, isUnavailable } from "../SqlErrors.ts"
import type { Pools } from "./Pools.ts"

/** A streaming replica that answers reads. */
export interface Replica {
  readonly pools: Pools
  /** Says that a statement failed on it. */
  readonly failed: (error: SqlError.SqlError) => Effect.Effect<void>
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
          return Effect.andThen(replica.failed(error), primary)
        })
  )

/** Replicas for reads that belong on the primary, while there is none. */
export interface Spare {
  /** A replica if the primary has been silent. */
  readonly whenSilent: () => Replica | undefined
  /** A replica after a statement could not reach the primary. */
  readonly whenLost: () => Replica | undefined
}

/** The spare of a process; nothing before its replicas are known. */
export class Spares {
  current: Spare = { whenSilent: () => undefined, whenLost: () => undefined }
}

/** How often a lookup that waits for the primary checks whether the primary has become silent. */
const checkInterval = "500 millis"

/**
 * A client that reads off the primary, and off a replica while no primary answers: without it, reads of replicas would wait
 * for the lookup of their key.
 */
export const spared = (primary: SqlClient.SqlClient, spares: Spares): SqlClient.SqlClient =>
  clientOf(primary, (read) =>
    Effect.suspend(() => {
      const silent = spares.current.whenSilent()
      if (silent !== undefined) return read(silent.pools.pipelined)
      const check = Effect.delay(Effect.sync(spares.current.whenSilent), checkInterval)
      const late = Effect.flatMap(Effect.repeat(check, { until: (replica) => replica !== undefined }), (replica) =>
        read(replica.pools.pipelined)
      )
      return Effect.catchIf(Effect.raceFirst(read(primary), late), isUnavailable, (error) => {
        const replica = spares.current.whenLost()
        return replica === undefined ? Effect.fail(error) : read(replica.pools.pipelined)
      })
    })
  )

/** A client whose statements outside of transactions go to the replica of the request, if it has one. */
const routed = (primary: SqlClient.SqlClient, of: (pools: Pools) => SqlClient.SqlClient): SqlClient.SqlClient => {
  const client = clientOf(primary, (read) => route(read(primary), (pools) => read(of(pools))))
  return Object.assign(client, {
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      primary.withTransaction(Effect.provideService(effect, CurrentReplica, undefined))
  })
}

/** A client that runs each of its statements on the client that it chooses for it. */
const clientOf = (
  primary: SqlClient.SqlClient,
  run: <A>(
    read: (client: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>
  ) => Effect.Effect<A, SqlError.SqlError>
): SqlClient.SqlClient => {
  const connection: SqlConnection.Connection = {
    execute: (sql, values) => run((client) => client.unsafe(sql, values)),
    executeUnprepared: (sql, values) => run((client) => client.unsafe(sql, values).unprepared),
    executeRaw: (sql, values) => run((client) => client.unsafe(sql, values).raw),
    executeValues: (sql, values) => run((client) => client.unsafe(sql, values).values),
    executeValuesUnprepared: (sql, values) => run((client) => client.unsafe(sql, values).valuesUnprepared),
    executeStream: (sql, values) => primary.unsafe<never>(sql, values).stream
  }
  const statement = Statement.make(Effect.succeed(connection), PgClient.makeCompiler(), [], undefined)
  return Object.assign(statement, { ...primary, ...statement })
}

/** The pools of the primary, from which requests with a replica do not read. */
export const make = (primary: Pools): Pools => ({
  ...primary,
  pooled: routed(primary.pooled, ({ pooled }) => pooled),
  cheap: (run) => route(primary.cheap(run), ({ cheap }) => cheap(run)),
  cheapPage: (run) => route(primary.cheapPage(run), ({ cheapPage }) => cheapPage(run)),
  search: (run) => route(primary.search(run), ({ search }) => search(run))
})
