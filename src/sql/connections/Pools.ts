import { PgClient } from "@effect/sql-pg"
import { Context, type Duration, Effect, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { availableParallelism } from "node:os"
import type { Duplex } from "node:stream"
import { Settings } from "../../settings/Config.ts"
import { streamOf } from "./DatabaseSocket.ts"
import * as FairClient from "./FairClient.ts"
import * as FairPermits from "./FairPermits.ts"

/**
 * The pools of a server, which together have `DATABASE_POOL_SIZE` connections.
 *
 * Two connections are pipelined: one sends the reads by key of many requests, the other their pages. Only cheap reads belong
 * there (by key, small pages off an index), because such a statement cannot be cancelled and others wait behind it. All other
 * statements, and all writes, use a `pooled` connection, where the statement timeout ends those that run too long.
 */
export interface Pools {
  /** The connection of reads by key, for lookups that have none of their own. They count in no share. */
  readonly pipelined: SqlClient.SqlClient
  /** Runs a cheap read by key; each share of keys has a part of what the connection takes at once. */
  readonly cheap: <A, E, R>(run: (client: SqlClient.SqlClient) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs a cheap page, which takes as long as many reads by key; each share of keys has a part of what its connection takes at once. */
  readonly cheapPage: <A, E, R>(run: (client: SqlClient.SqlClient) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Each share of keys has a part of these connections. */
  readonly pooled: SqlClient.SqlClient
  /** The connections of `pooled`, for statements that create or change one record: a key that is alone may use all of them. */
  readonly writes: SqlClient.SqlClient
  /**
   * Runs a statement that may take long on one of the same connections, composed once its turn comes; it yields to other
   * keys.
   */
  readonly search: <A, E, R>(run: (client: SqlClient.SqlClient) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Long statements of one key leave a processor to others, as the database often has the same number of them. */
export const maxLong = Math.max(1, Math.min(2, availableParallelism() - 1))

/**
 * How many statements of a share a pipelined connection has at once: of one that is alone, and of one that is not. A statement of
 * another share waits for no more than those, and for those of requests that have ended. To wait here takes a fifth of the processor time
 * of a read, which no key that is alone needs.
 */
const reads = { alone: 256, shared: 16 }
const pages = { alone: 32, shared: 2 }

/** For how many milliseconds a statement may run, and wait for a lock, and how long it may wait for its share of the connections. */
export const StatementLimits = Context.Reference<{
  readonly millis: number
  readonly lockMillis: number
  readonly maxWait: Duration.Input
}>("waypost/sql/connections/Pools/StatementLimits", {
  defaultValue: () => ({ millis: 5000, lockMillis: 2000, maxWait: "10 seconds" })
})

/** What sessions of the service set; behind a pooler their role does. */
export const sessionSettings = ({ lockMillis, millis }: typeof StatementLimits.Service) => ({
  // Compiling a plan takes longer than running any of these statements.
  jit: "off",
  statement_timeout: String(millis),
  lock_timeout: String(lockMillis),
  idle_in_transaction_session_timeout: String(2 * millis)
})

/**
 * Bytes of a message of PostgreSQL above which the driver closes the connection. No record and no event has as many: a value
 * of a record has some MiB at most, the deletion of a product logs its sixteen modules, and that of a group 40 bytes for
 * each of its members. Pages of many records have lower limits of their own.
 */
export const maxMessageSize = 256 * 1024 * 1024

/** How long a connection may take to be opened, unless the address says it: the driver would prefer this to the URL. */
export const connectTimeout = ({ connectTimeout, url }: PgClient.PgClientConfig) =>
  connectTimeout !== undefined ||
  (url !== undefined && new URL(Redacted.value(url)).searchParams.has("connect_timeout"))
    ? {}
    : { connectTimeout: "2 seconds" as const }

/** Opens pools of a server; `opened` gets each of their sockets. */
export const connector = (address: PgClient.PgClientConfig, opened: (socket: Duplex) => void = () => undefined) =>
  Effect.gen(function* () {
    const { DATABASE_PREPARE: prepare } = yield* Settings
    const limits = yield* StatementLimits
    const startupParameters = sessionSettings(limits)
    const database = { ...address, prepare, ...connectTimeout(address), applicationName: "waypost" }
    return (maxConnections: number, { multiplex }: { readonly multiplex: boolean }) => {
      const open = streamOf(database, { batched: multiplex, statementMillis: limits.millis })
      return PgClient.make({
        ...database,
        stream: () => {
          const socket = open()
          opened(socket)
          return socket
        },
        multiplex,
        maxConnections,
        maxMessageSize,
        // A pooler in transaction mode opens the sessions itself and rejects startup parameters.
        ...(prepare ? { startupParameters } : {})
      })
    }
  })

type Connect = Effect.Success<ReturnType<typeof connector>>

/** The pools of a server over a number of connections. */
export const make = Effect.fnUntraced(function* (connect: Connect, size: number) {
  const { KEY_SHARE: maxShare } = yield* Settings
  const { maxWait } = yield* StatementLimits
  const hasPipelined = size >= 4
  const permits = size - (hasPipelined ? 2 : 0)
  const pool = yield* connect(permits, { multiplex: false })
  const withPermit = FairPermits.make({ permits, maxShare, maxLong, maxWait })
  const pooled = FairClient.make(pool, withPermit)
  const pipelined = Effect.fnUntraced(function* ({ alone, shared }: typeof reads) {
    if (!hasPipelined) return { client: pooled, inTurn: FairPermits.atAnyTime }
    const client = yield* connect(1, { multiplex: true })
    const turns = FairPermits.make({ permits: alone, maxShare: shared / alone, maxLong, maxWait })
    const inTurn: FairPermits.Turn = (read) => turns(read, { isBrief: true })
    return { client, inTurn }
  })
  const ofReads = yield* pipelined(reads)
  const ofPages = yield* pipelined(pages)
  const pools: Pools = {
    pooled,
    writes: FairClient.make(pool, (write) => withPermit(write, { isBrief: true })),
    pipelined: ofReads.client,
    cheap: (run) => ofReads.inTurn(run(ofReads.client)),
    cheapPage: (run) => ofPages.inTurn(run(ofPages.client)),
    search: (run) =>
      withPermit(
        Effect.suspend(() => run(pool)),
        { isLong: true }
      )
  }
  return pools
})
