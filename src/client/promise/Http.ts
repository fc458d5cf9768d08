import { Effect, Predicate, Result } from "effect"
import { positionHeader } from "../../domain/query/WalPosition.ts"
import { parseJson } from "../../domain/schema/Json.ts"
import { isIdempotent, limited, retried, secondsOf } from "../Retries.ts"
import * as Certificates from "../Certificates.ts"
import { isPortBlocked, redirectedTo } from "../Sendable.ts"
import type { Answered } from "./Call.ts"
import { clientError, unreadable, WaypostError } from "./Errors.ts"

/** The fetch of the platform, or one with the same signature. */
export type Fetch = typeof globalThis.fetch

export interface Request {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Blob | Uint8Array<ArrayBuffer> | undefined
  /** Whether a redirect is followed, which is the default. */
  readonly redirect?: "follow" | "manual"
}

/** A response with its text. */
export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A URL as an error shows it: its query can have the values of a filter, or the signature of the address of a part. */
export const shownUrl = (url: string): string => url.split("?")[0] ?? url

const unreachable = (sent: string, cause: unknown): WaypostError => {
  const url = shownUrl(sent)
  const { cause: inner, message } = cause instanceof Error ? cause : new Error(String(cause))
  const reason = inner instanceof Error && inner.message !== "" ? inner.message : message
  return clientError({ _tag: "ConnectionError", message: `The request to ${url} failed: ${reason}`, url }, { cause })
}

const retryAfterIn = (headers: Headers) => {
  const retryAfter = secondsOf(headers.get("retry-after"))
  return retryAfter === undefined ? {} : { retryAfter }
}

/** The address that an answer redirects to. A browser hides it, and the status. */
const redirectOf = (url: string, { headers, status }: Received): string | undefined => {
  const location = headers.get("location") ?? undefined
  const isRedirect = status === 0 || (status >= 300 && status < 400 && location !== undefined)
  return isRedirect ? redirectedTo(url, location) : undefined
}

/** The error of a response: that of the service, or that of a proxy before it. */
const errorOf = (sent: string, { headers, status, text }: Received, body: unknown): WaypostError => {
  const origin = { status, ...retryAfterIn(headers) }
  if (Predicate.isObject(body) && typeof body["_tag"] === "string" && typeof body["message"] === "string") {
    return new WaypostError({ ...body, _tag: body["_tag"], message: body["message"] }, origin)
  }
  const url = shownUrl(sent)
  const redirect = redirectOf(sent, { headers, status, text })
  if (redirect !== undefined) {
    const why = "the client follows no redirect, because fetch leaves out the key or the body then"
    const message = `${url} redirects to ${redirect}, and ${why}: its url has to be the address of the service itself`
    return clientError({ _tag: "UnexpectedResponseError", message, url }, origin)
  }
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
  const message = `${url} answered with status ${status} and no answer of Waypost: ${shown}`
  return clientError({ _tag: "UnexpectedResponseError", message, url }, origin)
}

/** The statuses that the next attempt may not meet; those of the Effect client. */
const transient: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

/** Whether a later attempt may succeed. */
export const isTransient = (error: WaypostError) =>
  (error._tag === "ConnectionError" && !isPortBlocked(error) && !Certificates.isRejected(error)) ||
  error._tag === "IdempotencyInProgressError" ||
  (error.status !== undefined && transient.has(error.status))

/** How the failures of a request are read. */
export const failures = { isTransient, retryAfterOf: ({ retryAfter }: WaypostError) => retryAfter }

const parsed = (text: string) => Result.getOrUndefined(parseJson(text))

/** Fails when a file is gone or has changed since it was opened: fetch reports that like a broken connection. */
const checkReadable = (body: Request["body"]) =>
  body instanceof Blob
    ? Effect.tryPromise({
        try: () => body.slice(0, 1).arrayBuffer(),
        catch: unreadable("The file cannot be read, or has changed since it was opened")
      })
    : Effect.void

const once = (fetch: Fetch, { url, ...request }: Request): Effect.Effect<Received, WaypostError> => {
  const attempt = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => unreachable(url, cause) })
  return Effect.acquireUseRelease(
    Effect.sync(() => new AbortController()),
    ({ signal }) => {
      const response = attempt(() => fetch(url, { ...request, body: request.body ?? null, signal }))
      return Effect.flatMap(
        // A large answer may take longer to arrive.
        limited(response, (message) => unreachable(url, new Error(message))),
        (response) =>
          Effect.map(
            attempt(() => response.text()),
            (text) => ({ status: response.status, headers: response.headers, text })
          )
      )
    },
    (controller) => Effect.sync(() => controller.abort())
  ).pipe(Effect.tapError(() => checkReadable(request.body)))
}

/** Sends a request and returns a response of success. A POST without an
 * `Idempotency-Key` is sent once; other requests are repeated while they fail for a moment. */
export const send = (fetch: Fetch, request: Request): Effect.Effect<Received, WaypostError> => {
  const sent = Effect.filterOrElse(
    once(fetch, request),
    ({ status }) => status >= 200 && status < 300,
    (received) => Effect.fail(errorOf(request.url, received, parsed(received.text)))
  )
  return isIdempotent(request) ? retried(sent, failures) : sent
}

/** An answer with its position in the log of the database, if it has one. */
interface Positioned extends Answered<unknown> {
  readonly position: string | null
}

/** The text of the header: `299 - "Not restored: groups 2"`. */
const warningOf = (headers: Headers) => /"(.*)"/.exec(headers.get("warning") ?? "")?.[1]

/** Sends a request to an operation, and returns the data of its answer: a page or a bulk answer as a whole, or the record. */
export const call = (fetch: Fetch, request: Request): Effect.Effect<Positioned, WaypostError> =>
  Effect.flatMap(send(fetch, { ...request, redirect: "manual" }), (received) => {
    const body = parsed(received.text)
    if (!Predicate.isTagged(body, "Success") || !Predicate.hasProperty(body, "data")) {
      return Effect.fail(errorOf(request.url, received, undefined))
    }
    const { _tag: _, ...page } = body
    const isWhole = "pagination" in page || "cursor" in page || "applied" in page
    return Effect.succeed({
      data: isWhole ? page : body.data,
      etag: received.headers.get("etag") ?? undefined,
      warning: warningOf(received.headers),
      position: received.headers.get(positionHeader)
    })
  })
