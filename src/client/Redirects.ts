import { Effect, Layer, Option } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { redirectedTo } from "./Sendable.ts"

// The service redirects no operation: a redirect is from a proxy, often from http to https. Fetch would follow it without the
// key, and with a GET in place of some writes.

/** Whether a response is a redirect. A browser shows no more of it than its type. */
const isRedirect = (response: HttpClientResponse.HttpClientResponse): boolean =>
  (response.status >= 300 && response.status < 400 && response.headers["location"] !== undefined) ||
  Option.exists(HttpClientResponse.toWeb(response), ({ type }) => type === "opaqueredirect")

/** Where a response redirects to, if it does. */
export const describe = (response: HttpClientResponse.HttpClientResponse): Option.Option<string> => {
  if (!isRedirect(response)) return Option.none()
  const { headers, request } = response
  const origin = URL.canParse(request.url) ? new URL(request.url).origin : request.url
  return Option.some(`${origin} redirects to ${redirectedTo(request.url, headers["location"])}`)
}

const unfollowed = Effect.map(Effect.serviceOption(FetchHttpClient.RequestInit), (given): RequestInit => ({
  ...Option.getOrElse(given, () => ({})),
  redirect: "manual"
}))

/** Sends requests to the service. One that is redirected fails, and is not sent again. */
export const layer = HttpClient.layerMergedContext(
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transform(
      Effect.fnUntraced(function* (sent, request) {
        const response = yield* Effect.provideServiceEffect(sent, FetchHttpClient.RequestInit, unfollowed)
        const description = Option.getOrUndefined(describe(response))
        if (description === undefined) return response
        const reason = new HttpClientError.StatusCodeError({ request, response, description })
        return yield* new HttpClientError.HttpClientError({ reason })
      })
    )
  )
).pipe(Layer.provide(FetchHttpClient.layer))
