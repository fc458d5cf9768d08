import { Effect, Option, Schedule } from "effect"
import { type SqlClient, SqlError } from "effect/sql"

/**
 * Violations of constraints, by the name of the constraint. Uniqueness is never checked before a write, because another
 * write could come between: the constraint decides and its name says which error the client gets.
 */
interface PostgresCause {
  readonly code?: string
  readonly constraint?: string
  readonly message?: string
}

const causeOf = (error: SqlError.SqlError) => (error.reason.cause ?? {}) as PostgresCause

type Raised<Errors extends Readonly<Record<string, () => unknown>>> = ReturnType<Errors[keyof Errors]>

/** Turns violations of the named constraints into domain errors; any other database failure is a defect. */
export const byConstraint =
  <const Errors extends Readonly<Record<string, () => unknown>>>(errors: Errors) =>
  <A, E, R>(
    effect: Effect.Effect<A, E | SqlError.SqlError, R>
  ): Effect.Effect<A, Raised<Errors> | Exclude<E, SqlError.SqlError>, R> =>
    Effect.catch(effect, (error): Effect.Effect<never, Raised<Errors> | Exclude<E, SqlError.SqlError>> => {
      if (!SqlError.isSqlError(error)) return Effect.fail(error as Exclude<E, SqlError.SqlError>)
      const make = errors[causeOf(error).constraint ?? ""]
      return make === undefined ? Effect.die(error) : Effect.fail(make() as Raised<Errors>)
    })

/** The connection was ended. */
const lost = /^(?:57P0[123]|08\w{3})$/

/** The statement was canceled, or there was no room for it. */
const busy = /^(?:53\d{3}|25P03|57014|55P03|40001|40P01)$/

/**
 * Whether the database cannot be reached or is too busy, so that trying again later may help. `SqlError.isRetryable`
 * answers another question: it counts an oversized result as a lost connection and a server that starts up as unknown.
 */
export const isUnavailable = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return false
  const { code, message } = causeOf(error)
  return (
    error.reason.operation === "connect" ||
    lost.test(code ?? "") ||
    busy.test(code ?? "") ||
    (error.reason._tag === "ConnectionError" && !/maxMessageSize/.test(message ?? ""))
  )
}

/** Whether a statement took longer than the database may work on one. */
export const isTooSlow = (error: unknown): boolean => SqlError.isSqlError(error) && causeOf(error).code === "57014"

/** Whether the connection ended during a statement, so that it is unknown whether it was committed. */
export const mayHaveCommitted = (error: unknown): boolean =>
  SqlError.isSqlError(error) &&
  error.reason.operation !== "connect" &&
  (lost.test(causeOf(error).code ?? "") || error.reason._tag === "ConnectionError")

/**
 * A connection that dies inside a transaction surfaces as a defect, because the rollback fails too; it is an ordinary
 * database failure and is made one again.
 */
export const sandbox = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, E | SqlError.SqlError> => {
    for (const reason of cause.reasons) {
      if (reason._tag === "Die" && SqlError.isSqlError(reason.defect)) return Effect.fail(reason.defect)
    }
    return Effect.failCause(cause)
  })

const hasCode = (codes: RegExp) => (error: unknown) =>
  SqlError.isSqlError(error) && codes.test(causeOf(error).code ?? "")

/** Failures that a retry of the transaction can resolve: a deadlock, a conflict, a referenced row that was deleted. */
const mayPass = hasCode(/^(?:40001|40P01|23503)$/)

/** Another write was in the way, and this one has done nothing. */
const isConflict = hasCode(/^(?:40001|40P01)$/)

const mayTryAgain = (isTransient: (error: unknown) => boolean) => ({
  while: isTransient,
  times: 8,
  schedule: Schedule.jittered(Schedule.exponential("10 millis"))
})
const whileItMayPass = mayTryAgain(mayPass)
const whileInConflict = mayTryAgain(isConflict)

/** As a part of another transaction it is that one which is tried again: its locks are what others wait for. */
const again = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>, when: typeof whileInConflict) =>
  Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
    Option.isSome(outer) ? effect : Effect.retry(effect, when)
  )

/** A transaction, tried again while another one was in its way; domain errors roll it back and come out as they are. */
export const transaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError>, R> =>
  again(sql, sandbox(sql.withTransaction(effect)), whileItMayPass).pipe(
    Effect.catch((error) =>
      SqlError.isSqlError(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError.SqlError>)
    )
  )

/** A write that commits by itself, tried again while another one was in its way; in a transaction it is a part of that. */
export const write = <A, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, SqlError.SqlError, R>
): Effect.Effect<A, SqlError.SqlError, R> => again(sql, effect, whileInConflict)
