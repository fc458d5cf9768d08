import { Effect } from "effect"
import { SqlError } from "effect/sql"

/**
 * The error of PostgreSQL. Uniqueness is never checked before a write, because another write could intervene: the
 * constraint decides, and its name determines the error for the client.
 */
interface PostgresCause {
  readonly code?: string
  readonly constraint?: string
  readonly message?: string
}

const causeOf = (error: SqlError.SqlError) => (error.reason.cause ?? {}) as PostgresCause

const hasCode = (codes: RegExp) => (error: unknown) =>
  SqlError.isSqlError(error) && codes.test(causeOf(error).code ?? "")

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

/**
 * The statement was canceled or conflicted with another one, or the server lacks resources, or is no primary any more: a proxy
 * takes a moment to lead to the new one.
 */
const isBusy = hasCode(/^(?:53\d{3}|25P03|25006|57014|55P03|40001|40P01)$/)

/** Whether Node does not accept the certificate of the server. */
export const isUntrusted = hasCode(
  /^(?:CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_GET_ISSUER_|UNABLE_TO_VERIFY_LEAF_)/
)

/** Whether there is no connection to the database, or it was ended. An oversized result counts as a `ConnectionError` too. */
export const isUnreachable = (error: unknown): boolean => {
  if (!SqlError.isSqlError(error)) return false
  const { code, message } = causeOf(error)
  return (
    error.reason.operation === "connect" ||
    lost.test(code ?? "") ||
    (error.reason._tag === "ConnectionError" && !/maxMessageSize/.test(message ?? ""))
  )
}

/**
 * Whether the database cannot be reached or is too busy, so that a later retry may succeed. `SqlError.isRetryable` differs:
 * it counts an oversized result as a lost connection and a server that starts up as unknown.
 */
export const isUnavailable = (error: unknown): boolean => isUnreachable(error) || isBusy(error)

/** Whether a statement exceeded the statement timeout. */
export const isTooSlow = (error: unknown): boolean => SqlError.isSqlError(error) && causeOf(error).code === "57014"

/** Whether a lock was not granted in time, because another transaction holds it. */
export const isLocked = (error: unknown): boolean => SqlError.isSqlError(error) && causeOf(error).code === "55P03"

/** What PostgreSQL says when it has no space left; undefined for any other error. */
export const fullDiskOf = (error: unknown): string | undefined => {
  if (!SqlError.isSqlError(error)) return undefined
  const { code, message = "" } = causeOf(error)
  return code === "53100" ? message : undefined
}

/** Whether the connection ended during a statement, so that it is unknown whether it was committed. */
export const mayHaveCommitted = (error: unknown): boolean =>
  SqlError.isSqlError(error) &&
  error.reason.operation !== "connect" &&
  (lost.test(causeOf(error).code ?? "") || error.reason._tag === "ConnectionError")

/**
 * Turns a defect that is an `SqlError` back into a failure. A connection that ends inside a transaction surfaces as a
 * defect, because the rollback fails too.
 */
export const sandbox = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, E | SqlError.SqlError> => {
    for (const reason of cause.reasons) {
      if (reason._tag === "Die" && SqlError.isSqlError(reason.defect)) return Effect.fail(reason.defect)
    }
    return Effect.failCause(cause)
  })

/** A rule of a table does not allow what a statement writes. */
export const isViolation = hasCode(/^23/)

/** Failures that a retry of the transaction can resolve: a deadlock, a conflict, a referenced row that was deleted. */
export const isTransient = hasCode(/^(?:40001|40P01|23503)$/)

/** The statement conflicted with another write and had no effect. */
export const isConflict = hasCode(/^(?:40001|40P01)$/)

/** Whether the transaction did not get its locks, or conflicted with another one: it can succeed later. */
export const canSucceedLater = hasCode(/^(?:40001|40P01|23503|55P03)$/)
