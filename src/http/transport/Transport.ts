import { Clock, Context, Effect, LogLevel, MutableRef, References, type Types } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { Settings } from "../../settings/Config.ts"
import { UriTooLongError } from "../../domain/write/RequestErrors.ts"
import {
  isRouteNotFound,
  noHost,
  noRoute,
  overloaded,
  overloadedResponse,
  recover,
  toResponse,
  withBody
} from "./Failures.ts"
import * as Methods from "./Methods.ts"
import * as Metrics from "./Metrics.ts"
import { type App, withTimeout, delayRejection, TimeLimits } from "./Timeout.ts"
import { InFlight } from "./InFlight.ts"

/**
 * What surrounds every request, whatever its route: the request id, the limits on time, length and requests in flight,
 * the headers of every answer, and the metrics.
 */
const maxPathLength = 2 * 1024
const maxQueryLength = 8 * 1024

/** An id the client may choose, if it is one that can stand in a header and a log line. */
const requestIdOf = (request: HttpServerRequest.HttpServerRequest) => {
  const given = request.headers["x-request-id"]
  return given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}

const tooLong = (url: string): UriTooLongError | undefined => {
  const query = url.indexOf("?")
  const path = query === -1 ? url.length : query
  if (path > maxPathLength) return new UriTooLongError({ message: `A path has at most ${maxPathLength} bytes` })
  if (url.length - path - 1 > maxQueryLength)
    return new UriTooLongError({ message: `A query has at most ${maxQueryLength} bytes` })
  return undefined
}

/** The router would take a semicolon for the start of the query. */
const hasSemicolon = (url: string) => {
  const semicolon = url.indexOf(";")
  const query = url.indexOf("?")
  return semicolon !== -1 && (query === -1 || semicolon < query)
}

/** RFC 9112, 3.2: one `Host`, no more and, from HTTP/1.1 on, no less. Node joins several with commas. */
const hasOneHost = (host: string | undefined, source: object) =>
  host === undefined ? !("httpVersion" in source && source.httpVersion === "1.1") : !host.includes(",")

/** Health checks answer even when the service is full. */
const isExempt = (url: string) => url === "/healthz" || url === "/readyz"

/** Parts take as long as the lines of their senders need; they are counted by themselves, and never crowd out the others. */
const isPart = (url: string) => url.startsWith("/uploads/")

/**
 * What the fiber of a request knows of it. Added to the context one by one, which costs next to nothing: merging would copy
 * every service there is, twice.
 */
const contextOf = (
  context: Context.Context<HttpServerRequest.HttpServerRequest>,
  requestId: string,
  answering: { route: string }
): Context.Context<HttpServerRequest.HttpServerRequest> =>
  context.pipe(Context.add(Metrics.Answering, answering), Context.add(References.CurrentLogAnnotations, { requestId }))

/**
 * What the log may tell of an address. A query holds signatures, which are permissions, and what people look for; a key
 * stands in a path by mistake only.
 */
const loggable = (url: string) => url.replace(/\?.*$/s, "").replaceAll(/wp_\w+/g, "wp_…")

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpRouter.GlobalProvided>

/**
 * How long an answer may take, in milliseconds. A part takes as long as the client's line needs, and large parts take
 * their time to be joined.
 */
const timeLimitOf = (url: string, limit: number) =>
  isPart(url) ? 24 * 3_600_000 : url.startsWith("/v1/uploads/complete-multi-part") ? 3_600_000 : limit

/** `paths` are those beside the operations of the API. */
export const layer = (paths: ReadonlyArray<Methods.OtherPath>) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const { LOG_LEVEL, MAX_IN_FLIGHT: maxInFlight } = yield* Settings
      const { inFlight, isDraining } = yield* InFlight
      const { answer: timeLimit } = yield* TimeLimits
      const parts = MutableRef.make(0)
      const waitingRefusals = MutableRef.make(0)
      const otherMethod = Methods.make(paths, yield* HttpRouter.RouterConfig)
      const logsRequests = LogLevel.isLessThanOrEqualTo(LOG_LEVEL, "Debug")

      const headersOf = (response: HttpServerResponse.HttpServerResponse, requestId: string) => ({
        "x-request-id": requestId,
        "x-content-type-options": "nosniff",
        ...(response.headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
        ...(response.status === 401 ? { "www-authenticate": "ApiKey" } : {}),
        ...(isDraining() ? { connection: "close" } : {})
      })

      const refusalOf = ({ headers, source, url }: HttpServerRequest.HttpServerRequest) =>
        tooLong(url) ??
        (hasOneHost(headers["host"], source) ? undefined : noHost) ??
        (hasSemicolon(url) ? noRoute : undefined) ??
        (MutableRef.get(isPart(url) ? parts : inFlight) >= maxInFlight && !isExempt(url) ? overloaded : undefined)

      return (app) =>
        Effect.withFiber((fiber): Answered => {
          const context = fiber.context as Context.Context<HttpServerRequest.HttpServerRequest>
          const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
          const clock = fiber.getRef(Clock.Clock)
          const began = clock.currentTimeNanosUnsafe()
          const requestId = requestIdOf(request)
          const answering = { route: "none" }
          const finish = (response: HttpServerResponse.HttpServerResponse) => {
            const seconds = Number(clock.currentTimeNanosUnsafe() - began) / 1e9
            Metrics.record(context, {
              method: request.method,
              route: answering.route,
              status: response.status,
              seconds
            })
            return HttpServerResponse.setHeaders(response, headersOf(response, requestId))
          }
          const refusal = refusalOf(request)
          if (refusal === overloaded) return delayRejection(waitingRefusals, () => finish(overloadedResponse))
          if (refusal !== undefined) return Effect.succeed(finish(toResponse(refusal)))
          const counter = isPart(request.url) ? parts : inFlight
          MutableRef.increment(counter)
          const answered = withTimeout(
            app as App,
            contextOf(context, requestId, answering),
            timeLimitOf(request.url, timeLimit),
            () => MutableRef.decrement(counter)
          ).pipe(
            Effect.map((response) => withBody(response, requestId)),
            Effect.catchCause((cause) =>
              isRouteNotFound(cause)
                ? Effect.succeed(otherMethod(request.method, request.url) ?? toResponse(noRoute))
                : recover(cause, requestId)
            ),
            Effect.map(finish)
          )
          return logsRequests
            ? Effect.tap(answered, ({ status }) =>
                Effect.annotateLogs(Effect.logDebug(`${request.method} ${loggable(request.url)} ${status}`), {
                  requestId
                })
              )
            : answered
        })
    }),
    { global: true }
  )
