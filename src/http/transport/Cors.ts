import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/**
 * Routes with signed URLs may be used from any page. The operations of the API may not, because an API key must not be in
 * a page. A page can only read the headers that are listed here; it needs `ETag` to complete an upload.
 */
const headers = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Content-Length, Content-Range, Content-Disposition, X-Request-Id",
  "cross-origin-resource-policy": "cross-origin"
}

/** Lets pages of any origin read the response, including errors. */
export const shared = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeaders(response, headers))
    ),
    effect
  )

/** The response to a preflight request. */
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
