import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { Settings } from "../settings/Config.ts"
import * as FairPermits from "./connections/FairPermits.ts"
import * as Pools from "./connections/Pools.ts"
import * as ReplicaReads from "./connections/ReplicaReads.ts"

/** The connection settings: a URL, or the socket of the embedded server. */
export class Database extends Context.Service<Database, PgClient.PgClientConfig>()("waypost/sql/Sql/Database") {}

/**
 * The connections to the database, which together are `DATABASE_POOL_SIZE`; reads of a request that has a replica go there.
 *
 * `lookups` never waits behind a statement of a client: keys, rate limits and readiness are read over it. A pool of fewer
 * than six connections has none to spare for it.
 */
export class Sql extends Context.Service<
  Sql,
  Pools.Pools & {
    readonly lookups: SqlClient.SqlClient
    /** The connection of `lookups`, or one to a replica while no primary answers. */
    readonly keys: SqlClient.SqlClient
    readonly spares: ReplicaReads.Spares
    /** Whether the server keeps prepared statements; a pooler in transaction mode does not. */
    readonly isPreparing: boolean
    /** A connection that is open only while a process delivers events to webhooks; it is not one of `DATABASE_POOL_SIZE`. */
    readonly deliveries: SqlClient.SqlClient
    /** Reads a page of several megabytes. A key does this one page at a time, and the process two. */
    readonly largePages: <A, E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Writes many records. The process does this twice at a time, and a key that is not alone once. */
    readonly manyWrites: FairPermits.Turns
  }
>()("waypost/sql/Sql") {
  static readonly layer = Layer.effect(
    Sql,
    Effect.gen(function* () {
      const {
        DATABASE_POOL_SIZE: size,
        DATABASE_PREPARE: isPreparing,
        DATABASE_REPLICA_URLS: replicas
      } = yield* Settings
      const connect = yield* Pools.connector(yield* Database)
      const hasOwn = size >= 6
      const primary = yield* Pools.make(connect, size - (hasOwn ? 1 : 0))
      const lookups = hasOwn ? yield* connect(1, { multiplex: true }) : primary.pipelined
      const spares = new ReplicaReads.Spares()
      const { maxLong } = Pools
      const { maxWait } = yield* Pools.StatementLimits
      const largePages = FairPermits.make({ permits: 2, maxShare: 0.5, maxLong, maxWait })
      const manyWrites = FairPermits.make({ permits: 2, maxShare: 1, maxLong: 1, maxWait })
      const finished = { isLong: true, isFinished: true } as const
      return Sql.of({
        ...(replicas.length === 0 ? primary : ReplicaReads.make(primary)),
        lookups,
        keys: replicas.length === 0 ? lookups : ReplicaReads.spared(lookups, spares),
        spares,
        isPreparing,
        deliveries: yield* connect(1, { multiplex: false }),
        largePages: (read) => largePages(read),
        manyWrites: Object.assign(<A, E, R>(write: Effect.Effect<A, E, R>) => manyWrites(write, finished), {
          ifFree: <A, E, R>(write: Effect.Effect<A, E, R>) => manyWrites.ifFree(write, finished)
        })
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
}
