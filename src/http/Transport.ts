import { Cause, Context, Effect, MutableRef, Schema, type Types } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../Config.ts"
import { IfMatch } from "../domain/Precondition.ts"
import {
  InternalServerError,
  InvalidRequestError,
  PayloadTooLargeError,
  RouteNotFoundError,
  ServiceUnavailableError,
  TransportError,
  UnsupportedMediaTypeError,
  UriTooLongError
} from "../domain/RequestErrors.ts"
import { isUnavailable } from "../repositories/SqlErrors.ts"
import { Drain } from "./Drain.ts"

/**
 * What surrounds every request, whatever its route: the request id, the limits on time, length and requests in flight,
 * and the last word on errors. Whatever reaches this point without a JSON body gets one, and an unexpected failure is
 * logged once, under its request id, and hidden.
 */
const requestTimeout = "20 seconds"
const maxPathLength = 2 * 1024
const maxQueryLength = 8 * 1024

/** The status of each error, read off its class. */
const statuses = new Map(
  TransportError.members.map((member) => [
    member.fields._tag.schema.literal,
    Number(Schema.resolveAnnotations(member)?.["httpApiStatus"])
  ])
)

const encode = Schema.encodeUnknownSync(TransportError)

/** An error as its answer. */
export const toResponse = (error: TransportError): HttpServerResponse.HttpServerResponse => {
  const retryAfter =
    error._tag === "RateLimitExceededError"
      ? error.retryAfterSeconds
      : error._tag === "ServiceUnavailableError"
        ? 1
        : undefined
  const allow = error._tag === "MethodNotAllowedError" ? { allow: error.allowed.join(", ") } : {}
  return HttpServerResponse.jsonUnsafe(encode(error), {
    status: statuses.get(error._tag) ?? 500,
    headers: { ...allow, ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }) }
  })
}

/** The platform's own answers have an empty or a plain text body; ours have an envelope. */
const withBody = (response: HttpServerResponse.HttpServerResponse, requestId: string) => {
  if (
    response.status < 400 ||
    ("contentType" in response.body && response.body.contentType?.startsWith("application/json") === true)
  )
    return response
  return toResponse(replacementFor(response.status, requestId))
}

const replacementFor = (status: number, requestId: string): TransportError => {
  switch (status) {
    case 404:
      return noRoute
    case 413:
      return new PayloadTooLargeError({ message: "The body is larger than 1 MiB" })
    case 415:
      return new UnsupportedMediaTypeError({ message: "Send the body as application/json" })
    case 503:
      return unavailable
    default:
      return status < 500 ? unreadable : internal(requestId)
  }
}

const noRoute = new RouteNotFoundError({
  message: "There is nothing at this path; GET /v1/openapi.json lists the operations"
})
const unreadable = InvalidRequestError.of([
  { in: "body", path: "", code: "unreadable", message: "The request could not be read" }
])
const unavailable = new ServiceUnavailableError({
  message: "The service cannot reach its database right now; try again"
})
const overloaded = new ServiceUnavailableError({ message: "The service has too many requests in flight; try again" })
const timedOut = new ServiceUnavailableError({ message: "The request took too long; try again" })
const internal = (requestId: string) =>
  new InternalServerError({
    message: "Something went wrong on our side; quote the requestId when you report it",
    requestId
  })

const isTransportError = Schema.is(TransportError)

/** What a failure is answered with; `undefined` when it is nobody's fault but ours. */
const answerTo = (failure: unknown): TransportError | HttpServerResponse.HttpServerResponse | undefined => {
  if (HttpServerResponse.isHttpServerResponse(failure) || isTransportError(failure)) return failure
  if (HttpServerError.isHttpServerError(failure)) {
    if (failure.reason._tag === "RouteNotFound") return noRoute
    if (failure.reason._tag === "RequestParseError") return replacementFor(isTooLarge(failure.reason) ? 413 : 400, "")
  }
  return isUnavailable(failure) ? unavailable : undefined
}

const isTooLarge = (reason: object) => "reason" in reason && reason.reason === "BodyTooLarge"

const recover = (cause: Cause.Cause<unknown>, requestId: string) =>
  Effect.suspend(() => {
    for (const reason of cause.reasons) {
      const failure = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
      const answer = failure === undefined ? undefined : answerTo(failure)
      if (answer !== undefined) {
        return Effect.succeed(
          HttpServerResponse.isHttpServerResponse(answer) ? withBody(answer, requestId) : toResponse(answer)
        )
      }
    }
    if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(toResponse(timedOut))
    return Effect.as(Effect.logError("Request failed", cause), toResponse(internal(requestId)))
  })

/** An id the client may choose, if it is one that can stand in a header and a log line. */
const requestIdOf = (request: HttpServerRequest.HttpServerRequest) => {
  const given = request.headers["x-request-id"]
  return given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : SecureRandom.uuidV4Unsafe()
}

const tooLong = (url: string): UriTooLongError | undefined => {
  const query = url.indexOf("?")
  const path = query === -1 ? url.length : query
  if (path > maxPathLength) return new UriTooLongError({ message: `A path has at most ${maxPathLength} bytes` })
  if (url.length - path > maxQueryLength)
    return new UriTooLongError({ message: `A query has at most ${maxQueryLength} bytes` })
  return undefined
}

/** The router would take a semicolon for the start of the query. */
const hasSemicolon = (url: string) => {
  const semicolon = url.indexOf(";")
  const query = url.indexOf("?")
  return semicolon !== -1 && (query === -1 || semicolon < query)
}

const ifMatchOf = (header: string | undefined) =>
  header === undefined || header.trim() === "*" ? undefined : header.split(",").map((tag) => tag.trim())

/** Health checks answer even when the service is full. */
const isExempt = (url: string) => url === "/healthz" || url === "/readyz"

export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { MAX_IN_FLIGHT: maxInFlight } = yield* Settings
    const drain = yield* Drain
    const inFlight = MutableRef.make(0)
    return (app) =>
      Effect.withFiber<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpRouter.GlobalProvided>((fiber) => {
        const request = Context.getUnsafe(
          fiber.context as Context.Context<HttpServerRequest.HttpServerRequest>,
          HttpServerRequest.HttpServerRequest
        )
        const requestId = requestIdOf(request)
        const finish = (response: HttpServerResponse.HttpServerResponse) =>
          HttpServerResponse.setHeaders(response, {
            "x-request-id": requestId,
            "x-content-type-options": "nosniff",
            ...(response.headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
            ...(response.status === 401 ? { "www-authenticate": "ApiKey" } : {}),
            ...(drain.isDraining() ? { connection: "close" } : {})
          })
        const refusal =
          tooLong(request.url) ??
          (hasSemicolon(request.url) ? noRoute : undefined) ??
          (MutableRef.get(inFlight) >= maxInFlight && !isExempt(request.url) ? overloaded : undefined)
        if (refusal !== undefined) return Effect.succeed(finish(toResponse(refusal)))
        MutableRef.increment(inFlight)
        const ifMatch = ifMatchOf(request.headers["if-match"])
        return (app as Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpRouter.GlobalProvided>).pipe(
          ifMatch === undefined ? (self) => self : Effect.provideService(IfMatch, ifMatch),
          Effect.timeoutOrElse({ duration: requestTimeout, orElse: () => Effect.succeed(toResponse(timedOut)) }),
          // A global middleware runs uninterruptibly; without this a client that hangs up would not stop its query.
          Effect.interruptible,
          Effect.map((response) => withBody(response, requestId)),
          Effect.catchCause((cause) => recover(cause, requestId)),
          Effect.map(finish),
          Effect.ensuring(Effect.sync(() => MutableRef.decrement(inFlight))),
          Effect.annotateLogs("requestId", requestId)
        )
      })
  }),
  { global: true }
)
