import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { Duration, Effect, Option, PlatformError, Predicate, Schedule, Schema, Struct } from "effect"
import { HttpClientError } from "effect/http"
import * as Certificates from "../client/Certificates.ts"
import * as Redirects from "../client/Redirects.ts"
import { InvalidRequestError, RateLimitExceededError, ServiceUnavailableError } from "../domain/write/RequestErrors.ts"
import type { Reason } from "./files/Row.ts"

/** An error of a client call: one that the API declares, or one of the connection. */
export interface Failure {
  readonly _tag: string
  readonly message: string
}

/** A command cannot run; the message is complete without the name of the error. */
export class CommandError extends Schema.TaggedError<CommandError>()("CommandError", {
  message: Schema.String,
  /** 1 unless given. */
  exitCode: Schema.optionalKey(Schema.Int)
}) {}

/** The code of what the connection failed for, or its text where it has none. */
const causeOf = (error: object): string => {
  const cause = "cause" in error ? error.cause : undefined
  if (!Predicate.isObject(cause)) return "message" in error ? String(error.message) : ""
  if (Predicate.isString(cause["code"])) return cause["code"]
  return causeOf(cause)
}

/** What a server answers that does not expect TLS, by the versions of OpenSSL. */
const plainHttp: ReadonlySet<string> = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"])

const unreachable = ({ reason }: HttpClientError.HttpClientError) => {
  const { host, hostname, origin } = new URL(reason.request.url)
  const cause = causeOf(reason)
  if (cause === "ECONNREFUSED") {
    return `No service answers at ${origin}. Start it with npm start, or set its address with --url or WAYPOST_URL`
  }
  if (cause === "ENOTFOUND") return `The host ${hostname} is unknown. Correct the address in --url or WAYPOST_URL`
  if (plainHttp.has(cause)) {
    return `The service at ${host} speaks http, not https. Set --url or WAYPOST_URL to http://${host}`
  }
  if (Certificates.untrusted.has(cause)) {
    return `The certificate of ${host} is not trusted (${cause}). Set NODE_EXTRA_CA_CERTS in the environment to the file of its CA`
  }
  if (Certificates.invalid.has(cause)) {
    return `The certificate of ${host} is not valid (${cause}). Replace it, or correct the address in --url or WAYPOST_URL`
  }
  return `The connection to ${origin} failed: ${cause}. Run the command again`
}

/** What to do about a request that was redirected. */
const redirected = ({ request, response }: HttpClientError.HttpClientError): Option.Option<string> =>
  Option.map(Option.flatMap(Option.fromUndefinedOr(response), Redirects.describe), (text) => {
    const isExposed = request.url.startsWith("http:") && request.headers["authorization"] !== undefined
    const exposed = isExposed ? ". The key was sent unencrypted: replace it if others can read the network" : ""
    return `${text}. If that is the service, set --url or WAYPOST_URL to it${exposed}`
  })

/** Names the file in an error of an open one, which names only its descriptor. */
export const inFile =
  (file: string) =>
  (error: PlatformError.PlatformError): PlatformError.PlatformError => {
    const { reason } = error
    if (reason._tag === "BadArgument" || typeof reason.pathOrDescriptor === "string") return error
    const { _tag, cause, description, method, module } = reason
    return PlatformError.systemError({ _tag, module, method, description, pathOrDescriptor: file, cause })
  }

/** An error of the operating system as text, with the file. */
const describeSystem = (error: PlatformError.PlatformError): string => {
  const { cause, reason } = error
  const message = cause instanceof Error ? cause.message : reason.message
  if (reason.module === "Stdio" && reason.method === "stdout") return `Cannot write the output: ${message}`
  const path = "pathOrDescriptor" in reason ? reason.pathOrDescriptor : undefined
  if (typeof path !== "string") return message
  if (reason._tag === "NotFound") {
    return existsSync(dirname(path)) ? `${path}: No such file` : `The folder ${dirname(path)} does not exist`
  }
  return message.includes(`'${path}'`) ? message : `${path}: ${message}`
}

/** Errors that are shown without their name. */
const plain: ReadonlySet<string> = new Set(["CommandError", "FormatError", "LockedError"])

/** An error as text for the terminal, without a stack trace. */
export const describe = (error: unknown): string => {
  if (PlatformError.isPlatformError(error)) return describeSystem(error)
  if (HttpClientError.isHttpClientError(error)) {
    if (error.response === undefined) return unreachable(error)
    const text = redirected(error)
    if (Option.isSome(text)) return text.value
  }
  if (!Predicate.isObject(error)) return String(error)
  const { _tag, message } = error
  return typeof _tag !== "string" || plain.has(_tag) ? String(message) : `${_tag}: ${String(message)}`
}

const maxAttempts = 30

/** A service that asks to wait for longer has a limit for each day, in seconds. */
const maxWait = 600

/** How many seconds a busy service, or a proxy before it, asks to wait; `undefined` for any other failure. */
const waitOf = (failure: Failure): number | undefined => {
  if (failure instanceof RateLimitExceededError) return failure.retryAfterSeconds
  if (failure instanceof ServiceUnavailableError) return 1
  const response = HttpClientError.isHttpClientError(failure) ? failure.response : undefined
  return response?.status === 429 || response?.status === 503 ? Number(response.headers["retry-after"] ?? 1) : undefined
}

/** Repeats for as long as the service is busy: the client gives up after a few attempts, an import can wait longer. */
export const retriedWhileBusy = <A>(effect: Effect.Effect<A, Failure>, attempt = 1): Effect.Effect<A, Failure> =>
  Effect.catch(effect, (failure) => {
    const seconds = waitOf(failure)
    if (seconds === undefined || seconds > maxWait || attempt >= maxAttempts) return Effect.fail(failure)
    return Effect.andThen(
      Effect.sleep(Duration.seconds(Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0.2), 60) : 1)),
      retriedWhileBusy(effect, attempt + 1)
    )
  })

/** Failures of the network or of a server, and not of what was sent. A request that arrives too slowly is answered 408. */
const isOutage = (failure: Failure): failure is HttpClientError.HttpClientError =>
  HttpClientError.isHttpClientError(failure) &&
  (failure.response === undefined || failure.response.status >= 500 || failure.response.status === 408)

/** Whether the next attempt may succeed. */
const isTransient = (failure: Failure) => {
  if (!isOutage(failure) || failure.response?.status === 503) return false
  return !Certificates.isRejected(failure)
}

/** Like `retriedWhileBusy`, and also retries transient failures for about ten seconds; only for idempotent requests. */
export const persistently = <A>(effect: Effect.Effect<A, Failure>): Effect.Effect<A, Failure> =>
  retriedWhileBusy(effect).pipe(
    Effect.retry({ while: isTransient, times: 6, schedule: Schedule.exponential("200 millis") })
  )

/** Whether a later attempt may succeed, for commands that go on until they are interrupted. */
export const isTemporary = (failure: Failure): boolean =>
  isOutage(failure) || waitOf(failure) !== undefined || failure._tag === "InternalServerError"

/** Whether a request was rejected for a problem, with a member or a parameter if one is given. */
export const hasIssue = (failure: Failure, code: string, path?: string): boolean =>
  failure instanceof InvalidRequestError &&
  failure.issues.some((issue) => issue.code === code && (path === undefined || issue.path === path))

/** Whether the service rejected a page because its records are too large. */
export const isPageTooLarge = (failure: Failure): boolean => hasIssue(failure, "tooMuch", "limit")

/** Failures that every other row or file would meet as well. */
export const concernsAll = (failure: Failure): boolean =>
  ["UnauthorizedError", "MissingPermissionsError", "ServiceUnavailableError"].includes(failure._tag) ||
  Schema.isSchemaError(failure) ||
  (HttpClientError.isHttpClientError(failure) && Option.isSome(redirected(failure))) ||
  isOutage(failure)

/** The reasons of a failure, as rows of the `.refused` file list them. */
export const reasonsOf = (failure: Failure): ReadonlyArray<Reason> =>
  failure instanceof InvalidRequestError
    ? failure.issues.map(Struct.omit(["in"]))
    : [{ code: failure._tag, message: failure.message }]
