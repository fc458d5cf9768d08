import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/** Sets headers of the response to the current request. */
export const appendHeaders = (values: Readonly<Record<string, string>>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, values))
  )
