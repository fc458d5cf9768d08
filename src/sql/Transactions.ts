import { Effect, Option, Schedule } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { atAnyTime, type Turn } from "./connections/FairPermits.ts"
import { type Fragment, sql } from "./Fragment.ts"
import { canSucceedLater, isConflict, isTransient, sandbox } from "./SqlErrors.ts"

const retryWhile = (isRetryable: (error: unknown) => boolean) => ({
  while: isRetryable,
  times: 8,
  schedule: Schedule.jittered(Schedule.exponential("10 millis"))
})
const whileTransient = retryWhile(isTransient)

/** Until the locks are granted; the time limit of the request ends it. */
const untilLocked = {
  while: canSucceedLater,
  schedule: Schedule.jittered(Schedule.spaced("50 millis"))
}
const whileInConflict = retryWhile(isConflict)

/**
 * Within another transaction only the outer one is retried: a retry has to release the locks that others wait for. It takes no turn
 * either, because it has a connection, for which those whose turn it is may wait.
 */
const again = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>,
  when: typeof whileInConflict | typeof untilLocked,
  turn: Turn = atAnyTime
) =>
  Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
    Option.isSome(outer) ? effect : Effect.retry(turn(effect), when)
  )

/**
 * A transaction, retried on conflicts with other transactions; domain errors roll it back and are passed on. With
 * `waitsForLocks`, one that does not get a lock in time gives its connection back and tries again. Each attempt takes a `turn`.
 */
export const transaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>,
  { turn, waitsForLocks = false }: { readonly waitsForLocks?: boolean; readonly turn?: Turn } = {}
): Effect.Effect<A, Exclude<E, SqlError.SqlError>, R> =>
  again(sql, sandbox(sql.withTransaction(effect)), waitsForLocks ? untilLocked : whileTransient, turn).pipe(
    Effect.catch((error) =>
      SqlError.isSqlError(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError.SqlError>)
    )
  )

/**
 * A single-statement write, retried on conflicts with other writes; within a transaction it is not retried by itself. With
 * `waitsForLocks`, one that does not get a lock in time tries again.
 */
export const write = <A, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, SqlError.SqlError, R>,
  { waitsForLocks } = { waitsForLocks: false }
): Effect.Effect<A, SqlError.SqlError, R> => again(sql, effect, waitsForLocks ? untilLocked : whileInConflict)

/** Of which kind the names of advisory locks are. Functions of the database lock tables, whose names are of the kind `waypost`. */
type LockKind = "waypost" | "waypost plans" | "waypost restoration" | "waypost uploads"

const keyOf = (kind: LockKind, name: string): Fragment => sql`hashtext(${kind}::text), hashtext(${name}::text)`

/** For a transaction that `waitsForLocks`. */
const soon = sql`set_config('lock_timeout', '250ms', true)`

/** Locks a name until the transaction ends. */
export const lockSql = (kind: LockKind, name: string): Fragment =>
  sql`select pg_advisory_xact_lock(${keyOf(kind, name)})`

/** Locks a name until the transaction ends, or fails after a quarter of a second, as does every later statement of it that waits so long. */
export const lockSoonSql = (name: string): Fragment =>
  sql`select ${soon}, pg_advisory_xact_lock(${keyOf("waypost", name)})`

/** The lock of `lockSoonSql`, shared with other transactions that share it. */
export const shareSoonSql = (name: string): Fragment =>
  sql`select ${soon}, pg_advisory_xact_lock_shared(${keyOf("waypost", name)})`

/** Whether a name was locked until the transaction ends. */
export const tryLockSql = (name: string): Fragment => sql`pg_try_advisory_xact_lock(${keyOf("waypost", name)})`
