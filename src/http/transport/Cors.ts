import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/**
 * Routes whose address is their permission may be used from any page; the operations of the API may not, because an API
 * key does not belong into a page. A page can only read the headers that are named here: without `ETag` it could not
 * complete its upload.
 */
const headers = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Content-Length, Content-Range, Content-Disposition, X-Request-Id",
  "cross-origin-resource-policy": "cross-origin"
}

/** Lets pages of any origin read the answer, a refusal too. */
export const shared = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeaders(response, headers))
    ),
    effect
  )

/** The answer to a browser that asks whether its page may. */
export const preflight = (...methods: ReadonlyArray<string>) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...headers,
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": "Content-Type, Range, If-None-Match, If-Range",
      "access-control-max-age": "86400"
    }
  })
