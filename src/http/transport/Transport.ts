import { ByteSize, Clock, Context, Effect, LogLevel, MutableRef, References, Result, type Types } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { maxPathBytes, maxQueryBytes } from "../../api/Limits.ts"
import { Settings } from "../../settings/Config.ts"
import { RateLimitExceededError, UriTooLongError } from "../../domain/write/RequestErrors.ts"
import {
  isRouteNotFound,
  makeRecover,
  noHost,
  noRoute,
  overloadedResponse,
  toResponse,
  withBody,
  withRequestId
} from "./Failures.ts"
import * as Cors from "./Cors.ts"
import * as Methods from "./Methods.ts"
import * as Metrics from "./Metrics.ts"
import { CurrentRequestId, requestIdOf } from "./CurrentRequest.ts"
import { CurrentPlace, InFlight, placeOf, takeIn } from "./InFlight.ts"
import { isLate } from "./NodeServer.ts"
import { requestIdHeader } from "./Rejections.ts"
import { RouteTable } from "./RouteTable.ts"
import { withTimeout } from "./Timeout.ts"
import * as ClientPlaces from "./limits/ClientPlaces.ts"
import * as UnreadAnswers from "./limits/UnreadAnswers.ts"

const tooLong = (url: string): UriTooLongError | undefined => {
  const query = url.indexOf("?")
  const path = query === -1 ? url.length : query
  if (path > maxPathBytes) return new UriTooLongError({ message: `A path has at most ${maxPathBytes} bytes` })
  if (url.length - path - 1 > maxQueryBytes)
    return new UriTooLongError({ message: `A query has at most ${maxQueryBytes} bytes` })
  return undefined
}

/** The router skips the first character, whatever it is. `*` is the whole service, for OPTIONS alone. */
const isPath = (method: string, url: string) => url.startsWith("/") || (method === "OPTIONS" && url === "*")

/** The router would parse a semicolon as the start of the query. */
const hasSemicolon = (url: string) => {
  const semicolon = url.indexOf(";")
  const query = url.indexOf("?")
  return semicolon !== -1 && (query === -1 || semicolon < query)
}

/** RFC 9112, 3.2: at most one `Host`, and exactly one from HTTP/1.1 on. Node joins several with commas. */
const hasOneHost = (host: string | undefined, source: object) =>
  host === undefined ? !("httpVersion" in source && source.httpVersion === "1.1") : !host.includes(",")

/**
 * The part of a URL that may be logged. A query holds signatures, which are permissions, and search terms; a path holds a
 * key only by mistake.
 */
const loggable = (url: string) => url.replace(/\?.*$/s, "").replaceAll(/wp_\w+/g, "wp_…")

/** A page that sends parts or shows files reads when to try again. */
const readableOverload = Cors.readable(overloadedResponse)

/** Counted for a late body, whose answer the server has sent. */
const late = HttpServerResponse.empty({ status: 408 })

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpRouter.GlobalProvided>

/**
 * Surrounds every request, whatever its route: the request id, the limits on time, length and requests in flight, the
 * headers of every response, and the metrics.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { CORS_ORIGINS: origins, LOG_LEVEL, MAX_IN_FLIGHT: maxInFlight } = yield* Settings
    const { delayRejection, inFlight, isDraining } = yield* InFlight
    const { isOperation, limitsOf, routes } = yield* RouteTable
    // A network leaves half of the places for files to others.
    const files = { ofProcess: maxInFlight, ofNetwork: Math.ceil(maxInFlight / 2) }
    const takes = {
      requests: takeIn(inFlight, maxInFlight),
      exempt: takeIn(inFlight, Infinity),
      parts: takeIn(MutableRef.make(0), maxInFlight),
      files: (yield* ClientPlaces.make(files)).take
    }
    const overloadedNetwork = Cors.readable(
      toResponse(
        RateLimitExceededError.retryIn(`Your network has ${files.ofNetwork} requests for files in flight; try again`)
      )
    )
    const otherMethod = Methods.make(routes, yield* HttpRouter.RouterConfig)
    const countUnread = yield* UnreadAnswers.make
    const recover = makeRecover()
    const record = Metrics.makeRecorder()
    const corsHeaders = origins.length === 0 ? undefined : Cors.operations(origins)
    const logsRequests = LogLevel.isLessThanOrEqualTo(LOG_LEVEL, "Debug")

    const headersOf = (response: HttpServerResponse.HttpServerResponse, requestId: string) => ({
      [requestIdHeader]: requestId,
      "x-content-type-options": "nosniff",
      ...(response.headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
      ...(response.status === 401 ? { "www-authenticate": "ApiKey" } : {}),
      ...(isDraining() ? { connection: "close" } : {})
    })

    const invalid = ({ headers, method, source, url }: HttpServerRequest.HttpServerRequest) =>
      tooLong(url) ??
      (hasOneHost(headers["host"], source) ? undefined : noHost) ??
      (hasSemicolon(url) || !isPath(method, url) ? noRoute : undefined)

    /** The route that the router found, as a label of metrics; routes that are not in the contract share one. */
    const labelOf = (context: Context.Context<never>) => {
      const found = Context.getOrUndefined(context, HttpRouter.RouteContext)
      return found !== undefined && isOperation(found.route.path) ? found.route.path : "none"
    }

    const logged = (answered: Answered, { method, url }: HttpServerRequest.HttpServerRequest, requestId: string) =>
      logsRequests
        ? Effect.tap(answered, ({ status }) =>
            Effect.annotateLogs(Effect.logDebug(`${method} ${loggable(url)} ${status}`), { requestId })
          )
        : answered

    return (app) =>
      Effect.withFiber((fiber): Answered => {
        const context = fiber.context
        const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
        const clock = fiber.getRef(Clock.Clock)
        const began = clock.monotonicTimeNanosUnsafe()
        const requestId = requestIdOf(request.headers[requestIdHeader])
        let route = "none"
        const finish = (response: HttpServerResponse.HttpServerResponse, ended = clock.monotonicTimeNanosUnsafe()) => {
          const seconds = Number(ended - began) / 1e9
          record(context, { method: request.method, route, status: response.status, seconds })
          const headers = headersOf(response, requestId)
          return HttpServerResponse.setHeaders(
            withRequestId(response, requestId),
            corsHeaders === undefined ? headers : { ...headers, ...corsHeaders(request, response) }
          )
        }
        const error = invalid(request)
        if (error !== undefined) return logged(Effect.succeed(finish(toResponse(error))), request, requestId)
        const limits = limitsOf(request.method, request.url)
        const taken = placeOf(() => takes[limits.inFlight](request))
        if (Result.isFailure(taken)) {
          const ofProcess = limits.inFlight === "requests" ? overloadedResponse : readableOverload
          const rejection = taken.failure === "network" ? overloadedNetwork : ofProcess
          return logged(
            delayRejection(() => finish(rejection)),
            request,
            requestId
          )
        }
        const place = taken.success
        // Added and not merged: merging would copy every service of the context.
        const known = Context.add(context, References.CurrentLogAnnotations, { requestId }).pipe(
          Context.add(CurrentRequestId, requestId),
          Context.add(CurrentPlace, place)
        )
        const { maxBodyBytes } = limits
        const sized =
          maxBodyBytes === undefined
            ? known
            : Context.add(known, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes))
        const answered = withTimeout(app, sized, {
          millis: limits.answerMillis,
          afterBodyMillis: limits.afterBodyMillis,
          onAnswer: (context) => (route = labelOf(context)),
          onEnd: place.leave
        }).pipe(
          Effect.map((response) => withBody(countUnread(request, place.share, response))),
          Effect.catchCause((cause) =>
            isRouteNotFound(cause)
              ? Effect.succeed(otherMethod(request.method, request.url) ?? toResponse(noRoute))
              : recover(cause, requestId)
          ),
          Effect.map((response) => finish(isLate(request.source) ? late : response, place.lastsSince))
        )
        return logged(answered, request, requestId)
      })
  }),
  { global: true }
)
