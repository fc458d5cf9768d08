import { Cause, Effect, Predicate, Schema } from "effect"
import { HttpBody, HttpServerError, HttpServerResponse } from "effect/http"
import { maxBodyBytes } from "../../api/Limits.ts"
import { FileNotFoundError } from "../../domain/assets/File.ts"
import { InvalidFilterError } from "../../domain/query/Filter.ts"
import { maxBulkBytes } from "../../domain/write/Bulk.ts"
import {
  InternalServerError,
  InvalidAddressError,
  InvalidRequestError,
  PayloadTooLargeError,
  RangeNotSatisfiableError,
  RouteNotFoundError,
  ServiceUnavailableError,
  TransportError,
  UnsupportedMediaTypeError
} from "../../domain/write/RequestErrors.ts"
import { monotonicMillis } from "../../services/MonotonicTime.ts"
import { fullDiskOf, isLocked, isTooSlow, isUnavailable } from "../../sql/SqlErrors.ts"

/** With the errors of routes outside the contract, and of a filter that a handler decodes. */
const RouteError = Schema.Union([
  ...TransportError.members,
  InvalidFilterError,
  FileNotFoundError,
  InvalidAddressError,
  RangeNotSatisfiableError
])
type RouteError = typeof RouteError.Type

/** The status of each error, read off its class. */
const statuses = new Map(
  RouteError.members.map((member) => [
    member.fields._tag.schema.literal,
    Number(Schema.resolveAnnotations(member)?.["httpApiStatus"])
  ])
)

const encode = Schema.encodeUnknownSync(RouteError)

/** The response to an error. */
export const toResponse = (error: RouteError): HttpServerResponse.HttpServerResponse => {
  const seconds =
    error._tag === "RateLimitExceededError"
      ? error.retryAfterSeconds
      : error._tag === "ServiceUnavailableError" || error._tag === "IdempotencyInProgressError"
        ? 1
        : undefined
  const retryAfter = seconds === undefined ? {} : { "retry-after": String(seconds) }
  const allow = error._tag === "MethodNotAllowedError" ? { allow: error.allowed.join(", ") } : {}
  const range = error._tag === "RangeNotSatisfiableError" ? { "content-range": `bytes */${error.size}` } : {}
  return HttpServerResponse.jsonUnsafe(encode(error), {
    status: statuses.get(error._tag) ?? 500,
    headers: { ...allow, ...range, ...retryAfter }
  })
}

/** Sets the id of the request in the body of an error. JSON escapes quotes, so no other text of a body can match. */
export const withRequestId = (response: HttpServerResponse.HttpServerResponse, requestId: string) =>
  response.status < 400 || response.body._tag !== "Uint8Array" || response.body.text === undefined
    ? response
    : HttpServerResponse.setBody(
        response,
        HttpBody.text(
          response.body.text.replace('"requestId":""', `"requestId":"${requestId}"`),
          response.body.contentType
        )
      )

/** Gives the errors of the platform, whose body is empty or plain text, the body of ours. */
export const withBody = (response: HttpServerResponse.HttpServerResponse) => {
  if (
    response.status < 400 ||
    ("contentType" in response.body && response.body.contentType?.startsWith("application/json") === true)
  )
    return response
  return toResponse(replacementFor(response.status))
}

const replacementFor = (status: number): TransportError => {
  switch (status) {
    case 404:
      return noRoute
    case 413:
      return bodyTooLarge
    case 415:
      return new UnsupportedMediaTypeError({ message: "Send the body as application/json" })
    case 503:
      return unavailable
    default:
      return status < 500 ? unreadable : internal
  }
}

export const noRoute = new RouteNotFoundError({
  message: "No operation has this path; GET /v1/openapi.json lists the operations"
})
export const noHost = InvalidRequestError.at("header", "host", "required", "Send exactly one Host header")
const mebibytes = (bytes: number) => `${bytes / 1024 ** 2} MiB`
const bodyTooLarge = new PayloadTooLargeError({
  message: `The body is larger than ${mebibytes(maxBodyBytes)}, or ${mebibytes(maxBulkBytes)} in a bulk request`
})
const unreadable = InvalidRequestError.inBody("", "unreadable", "The request could not be read")
const unavailable = new ServiceUnavailableError({
  message: "The service cannot reach its database; try again"
})
const full = new ServiceUnavailableError({
  message: "The database has no space left; report it to the operator, and try again later"
})
const tooSlow = new ServiceUnavailableError({
  message: "The query timed out; narrow the filter or the search, or try again"
})
const locked = new ServiceUnavailableError({ message: "Another write holds this record; try again" })
const storageUnavailable = new ServiceUnavailableError({
  message: "The service cannot use its storage; try again"
})
export const overloaded = new ServiceUnavailableError({
  message: "The service has too many requests in flight; try again"
})
export const stopping = new ServiceUnavailableError({ message: "The service is stopping; try again" })
const timedOut = new ServiceUnavailableError({ message: "The request took too long; try again" })
const internal = new InternalServerError({
  message: "An unexpected error occurred in the service; quote the requestId when you report it"
})

const isRouteError = Schema.is(RouteError)

/** Made once: an overloaded service sends it very often. */
export const overloadedResponse = toResponse(overloaded)

/** The answer to an expected failure; `undefined` for an unexpected one. */
const answerTo = (failure: unknown): RouteError | HttpServerResponse.HttpServerResponse | undefined => {
  if (HttpServerResponse.isHttpServerResponse(failure) || isRouteError(failure)) return failure
  if (Predicate.isTagged(failure, "StorageUnavailableError")) return storageUnavailable
  if (HttpServerError.isHttpServerError(failure)) {
    if (failure.reason._tag === "RequestParseError") return replacementFor(isTooLarge(failure.reason) ? 413 : 400)
  }
  if (isTooSlow(failure)) return tooSlow
  if (isLocked(failure)) return locked
  if (fullDiskOf(failure) !== undefined) return full
  return isUnavailable(failure) ? unavailable : undefined
}

const isTooLarge = (reason: object) => "reason" in reason && reason.reason === "BodyTooLarge"

/** Whether the router has no route of this method and path. */
export const isRouteNotFound = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      reason._tag === "Fail" &&
      HttpServerError.isHttpServerError(reason.error) &&
      reason.error.reason._tag === "RouteNotFound"
  )

/** Whether the client closed its connection before its answer. */
const hasHungUp = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some((reason) => reason._tag === "Interrupt" && reason.annotations.has(HttpServerError.ClientAbort.key))

/** No client gets it; it is counted. */
const hungUp = HttpServerResponse.empty({ status: 499 })

/** How long a full disk of the database is not logged again, in milliseconds: every write fails while it is full. */
const fullMillis = 60_000

/**
 * Makes the function that turns every failure into a response with a JSON body. Failures of the client or of the network are reported to
 * the client. Unexpected ones are logged once under the request id and answered with a plain 500. It logs the causes that need the operator,
 * and clients do not learn them.
 */
export const makeRecover = () => {
  let nextFull = -Infinity

  const logFull = (text: string) =>
    Effect.flatMap(monotonicMillis, (now) => {
      if (now < nextFull) return Effect.void
      nextFull = now + fullMillis
      return Effect.logError(`The database has no space left: ${text}`)
    })

  const report = (answer: unknown, failure: unknown) => {
    if (answer === storageUnavailable) return Effect.logWarning("The storage failed", failure)
    return answer === full ? logFull(fullDiskOf(failure) ?? "") : Effect.void
  }

  return (cause: Cause.Cause<unknown>, requestId: string) =>
    Effect.suspend(() => {
      for (const reason of cause.reasons) {
        const failure = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
        const answer = failure === undefined ? undefined : answerTo(failure)
        if (answer !== undefined) {
          const response = HttpServerResponse.isHttpServerResponse(answer) ? withBody(answer) : toResponse(answer)
          return Effect.as(Effect.annotateLogs(report(answer, failure), { requestId }), response)
        }
      }
      if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(hasHungUp(cause) ? hungUp : toResponse(timedOut))
      return Effect.logError("Request failed", cause).pipe(
        Effect.annotateLogs({ requestId }),
        Effect.as(toResponse(internal))
      )
    })
}
