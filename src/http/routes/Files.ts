import { create as contentDisposition } from "content-disposition"
import { Clock, Context, Effect, Layer, Option, Result, Schedule } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import parseRange from "range-parser"
import {
  RangeNotSatisfiableError,
  RateLimitExceededError,
  ServiceUnavailableError
} from "../../domain/write/RequestErrors.ts"
import { isUuid } from "../../domain/schema/Fields.ts"
import { type Address, type Download, Downloads } from "../../services/Downloads.ts"
import type { Wait } from "../../services/Thumbnails.ts"
import { isKnown } from "../../sql/EntityTag.ts"
import { nodeResponseOf } from "../streams/Streams.ts"
import * as Cors from "../transport/Cors.ts"
import { noRoute, overloaded } from "../transport/Failures.ts"
import { CurrentPlace, InFlight } from "../transport/InFlight.ts"
import type { Route } from "../transport/RouteTable.ts"
import * as ClientPlaces from "../transport/limits/ClientPlaces.ts"
import { minUnreadBytes } from "../transport/limits/Shares.ts"
import { lists } from "./AcceptHeaders.ts"

export const route = {
  method: "GET",
  path: "/files/:uuid/:name",
  limits: { inFlight: "files" }
} as const satisfies Route

/** Requests that wait for a thumbnail; more are answered with the icon at once. */
export const MaxThumbnailWaits = Context.Reference<ClientPlaces.Max>("waypost/http/routes/Files/MaxThumbnailWaits", {
  defaultValue: () => ({ ofProcess: 512, ofNetwork: 256 })
})

/**
 * Downloads that clients have not read to the end, and for how many milliseconds others wait for them to end. Those of a process
 * leave connections to an S3 store for other work.
 */
export const MaxDownloads = Context.Reference<ClientPlaces.Max & { readonly waitMillis: number }>(
  "waypost/http/routes/Files/MaxDownloads",
  { defaultValue: () => ({ ofProcess: 256, ofNetwork: 64, waitMillis: 5000 }) }
)

/** Downloads that wait for others to end. */
const maxWaitingDownloads: ClientPlaces.Max = { ofProcess: 1024, ofNetwork: 256 }

/** Milliseconds after which a waiting download tries again. */
const retryMillis = 25

/** A browser may show or save a file, but nothing in it may run: no script, no plug-in, no request. */
const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

/** The members of a file URL; none for a path that no file has. */
const addressOf = (params: HttpRouter.RouteContext["Service"]["params"], url: string): Option.Option<Address> => {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1))
  const { name = "", uuid = "" } = params
  return isUuid(uuid)
    ? Option.some({ uuid, name, expires: query.get("expires") ?? "", signature: query.get("signature") ?? "" })
    : Option.none()
}

/** Seconds after which a shared cache asks again, so that it drops a file that was removed. */
const sharedSeconds = 3600

/**
 * How long caches may keep a file whose URL expires in `seconds`. The bytes do not change before that, except those of a
 * thumbnail that is not made yet. A shared cache that cannot reach the service may answer for as long as the URL holds.
 */
const cacheControl = ({ isFinal }: Download, seconds: number) => {
  const shared = Math.min(seconds, sharedSeconds)
  return isFinal
    ? `public, max-age=${seconds}, s-maxage=${shared}, stale-if-error=${seconds - shared}, immutable`
    : "public, max-age=10"
}

const headersOf = (download: Download, seconds: number) => ({
  etag: `"${download.eTag}"`,
  "accept-ranges": "bytes",
  "cache-control": cacheControl(download, seconds),
  "content-disposition": contentDisposition(download.fileName, { type: download.isInline ? "inline" : "attachment" }),
  "content-security-policy": sandbox,
  ...(download.isThumbnail ? { vary: "Accept" } : {})
})

const takesWebp = lists("image/webp")

/** The requested range, unless `If-Range` names other bytes. */
const rangeOf = ({ headers, method }: HttpServerRequest.HttpServerRequest, { eTag, size }: Download) => {
  const { "if-range": ifRange, range } = headers
  // RFC 9110, 14.2: only a GET has a range.
  if (method !== "GET" || range === undefined) return undefined
  // RFC 9110, 14.2: a range of an unknown unit is ignored, also one that would be beyond the end in bytes.
  if (!range.startsWith("bytes=")) return undefined
  if (ifRange !== undefined && ifRange.trim() !== `"${eTag}"`) return undefined
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
  // RFC 9110, 14.1.1: a range that ends before it begins is invalid and ignored.
  if (first !== undefined && Number(last) < Number(first)) return undefined
  // RFC 9110, 14.1.2: a suffix that is longer than the file is the whole file.
  const ranges = parseRange(
    size,
    range.replaceAll(/(?<=[=,]\s*-)\d+/g, (suffix) => String(Math.min(Number(suffix), size)))
  )
  if (ranges === -1) return "beyond" as const
  // Several ranges would need a multipart response; the whole file is always a valid answer.
  return ranges === -2 || ranges.length !== 1 ? undefined : ranges[0]
}

const respond = (request: HttpServerRequest.HttpServerRequest, download: Download, seconds: number) => {
  const headers = headersOf(download, seconds)
  if (isKnown(request.headers["if-none-match"], headers.etag)) {
    return Effect.succeed(HttpServerResponse.empty({ status: 304, headers }))
  }
  const range = rangeOf(request, download)
  const { mimeType: contentType, size } = download
  if (range === "beyond") return Effect.die(beyond(size))
  if (range === undefined) {
    return Effect.succeed(HttpServerResponse.stream(download.read(), { headers, contentType, contentLength: size }))
  }
  const length = range.end - range.start + 1
  return Effect.succeed(
    HttpServerResponse.stream(download.read({ offset: range.start, length }), {
      status: 206,
      contentType,
      contentLength: length,
      headers: { ...headers, "content-range": `bytes ${range.start}-${range.end}/${size}` }
    })
  )
}

const beyond = (size: number) => new RangeNotSatisfiableError({ message: `The file has ${size} bytes`, size })

/** Lets a request wait for a thumbnail without its place in flight, which another request may need. */
const makeWait = Effect.gen(function* () {
  const waits = yield* ClientPlaces.make(yield* MaxThumbnailWaits)
  return (request: HttpServerRequest.HttpServerRequest): Wait =>
    (made) =>
      Effect.flatMap(CurrentPlace, (place) =>
        Effect.acquireUseRelease(
          Effect.sync(() => waits.take(request)),
          (taken) => {
            if (Result.isFailure(taken)) return Effect.succeedNone
            place.leave()
            return Effect.tap(made, () => (place.enter() ? Effect.void : Effect.die(overloaded)))
          },
          (taken) => Effect.sync(() => Result.isSuccess(taken) && taken.success())
        )
      )
})

/** Counts a download until its client has read it or hung up, or rejects it. */
const makeCount = Effect.gen(function* () {
  const max = yield* MaxDownloads
  const downloads = yield* ClientPlaces.make(max)
  const waiting = yield* ClientPlaces.make(maxWaitingDownloads)
  const { delayRejection } = yield* InFlight
  const rejections = {
    process: new ServiceUnavailableError({
      message: `The service has ${max.ofProcess} downloads that are not read to the end; try again`
    }),
    network: RateLimitExceededError.retryIn(
      `Your network has ${max.ofNetwork} downloads that are not read to the end; read them, or try again`
    )
  }
  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    answer: HttpServerResponse.HttpServerResponse
  ) {
    const { body } = answer
    const response = nodeResponseOf(request)
    const isSmall = body._tag !== "Stream" || (body.contentLength ?? 0) < minUnreadBytes
    if (isSmall || response === undefined || request.method === "HEAD") return answer
    const take = Effect.sync(() => {
      const taken = downloads.take(request)
      if (Result.isFailure(taken)) return taken.failure
      if (response.destroyed) taken.success()
      else response.once("close", taken.success)
      return undefined
    })
    if ((yield* take) === undefined) return answer
    const place = yield* CurrentPlace
    place.leave()
    // Most downloads take a moment only, so that many at once are answered one after the other.
    const limit = yield* Effect.acquireUseRelease(
      Effect.sync(() => waiting.take(request)),
      (wait) =>
        Effect.repeat(take, {
          until: (limit) => limit === undefined,
          times: Result.isSuccess(wait) ? Math.ceil(max.waitMillis / retryMillis) : 0,
          schedule: Schedule.spaced(retryMillis)
        }),
      (wait) => Effect.sync(() => Result.isSuccess(wait) && wait.success())
    )
    return limit === undefined ? answer : yield* Effect.flatten(delayRejection(() => Effect.die(rejections[limit])))
  })
})

/** Serves files and their thumbnails; the signed URL is the permission. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const downloads = yield* Downloads
    const waitOf = yield* makeWait
    const count = yield* makeCount
    const get = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const { params } = yield* HttpRouter.RouteContext
      const address = addressOf(params, request.url)
      if (Option.isNone(address)) return yield* Effect.die(noRoute)
      const acceptsWebp = takesWebp(request.headers["accept"])
      const download = yield* downloads.open(address.value, acceptsWebp, waitOf(request))
      const left = Number(address.value.expires) - Math.ceil((yield* Clock.currentTimeMillis) / 1000)
      return yield* count(request, yield* respond(request, download, Math.max(0, left)))
    })
    yield* router.add("OPTIONS", route.path, Cors.preflight("GET", "HEAD"))
    yield* router.add(route.method, route.path, (request) => Cors.shared(Effect.orDie(get(request))))
  })
)
