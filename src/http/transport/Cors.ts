import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { appendHeaders } from "./ResponseHeaders.ts"

/**
 * Routes with signed URLs may be used from any page. The operations of the API may be used from the origins of a setting,
 * and from none unless it is set, because an API key must not be in a public page. A page can only read the headers that
 * are listed here; it needs `ETag` to complete an upload, and `Retry-After` to send a part again in time.
 */
const headers = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "ETag, Retry-After, Content-Length, Content-Range, Content-Disposition, X-Request-Id",
  "cross-origin-resource-policy": "cross-origin"
}

/** How many seconds a page may remember the answer to a preflight request. */
const maxAge = "86400"

/** Lets pages of any origin read the response, including errors. */
export const shared = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.andThen(appendHeaders(headers), effect)

/** A response that pages of any origin can read. */
export const readable = (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setHeaders(response, headers)

/** The response to a preflight request. */
export const preflight = (...methods: ReadonlyArray<string>) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...headers,
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": "Content-Type, Range, If-None-Match, If-Range",
      "access-control-max-age": maxAge
    }
  })

/** The headers of an operation's answer that a page may read. */
const ofOperation = {
  "access-control-expose-headers":
    "Idempotent-Replayed, Preference-Applied, Retry-After, ETag, Warning, X-Request-Id, Link, Waypost-Position"
}

/** The headers that a page may send to an operation, in the answer to a preflight request. */
const ofPreflight = {
  "access-control-allow-headers":
    "Authorization, Content-Type, If-Match, If-None-Match, X-Request-Id, Idempotency-Key, Prefer, Last-Event-ID, Waypost-Position",
  "access-control-max-age": maxAge
}

type Headers = Readonly<Record<string, string>>

/** The headers by which pages of `origins` use the operations, for every answer: a page also reads errors. */
export const operations = (origins: ReadonlyArray<string>) => {
  const isAll = origins.includes("*")
  const allowed = new Set(origins)
  return (
    { headers: { origin = "" }, method, url }: HttpServerRequest.HttpServerRequest,
    { headers: { allow, vary } }: HttpServerResponse.HttpServerResponse
  ): Headers => {
    if (!url.startsWith("/v1/")) return {}
    // A cache must not answer one origin with the answer to another.
    const varying: Headers = isAll ? {} : { vary: vary === undefined ? "Origin" : `${vary}, Origin` }
    if (!isAll && !allowed.has(origin)) return varying
    return {
      ...varying,
      ...ofOperation,
      "access-control-allow-origin": isAll ? "*" : origin,
      ...(method === "OPTIONS" && allow !== undefined ? { ...ofPreflight, "access-control-allow-methods": allow } : {})
    }
  }
}
