import { Context, Layer, Option, Redacted, Schedule } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { Authorization } from "../api/Authorization.ts"

/**
 * The typed client, derived from the contract: `client.locations.list({ query: { limit: 10 } })` returns decoded records
 * and fails with typed errors.
 */
export class Client extends Context.Service<Client, HttpApiClient.ForApi<typeof Api>>()("waypost/client/Client") {
  /** A client of the service at `baseUrl` that sends `apiKey`. */
  static readonly layer = (options: { readonly baseUrl: string; readonly apiKey: Redacted.Redacted }) =>
    Layer.effect(
      Client,
      HttpApiClient.make(Api, {
        baseUrl: options.baseUrl,
        transformClient: (client) => {
          const patient = HttpClient.retryTransient(client, {
            schedule: Schedule.jittered(Schedule.exponential("100 millis")),
            times: 3
          })
          // A POST is not idempotent; every other request of the API is.
          return HttpClient.make((request) => (request.method === "POST" ? client : patient).execute(request))
        }
      })
    ).pipe(Layer.provide(authorization(Option.some(options.apiKey))), Layer.provide(FetchHttpClient.layer))
}

/** Sends the key, if any, with every request. */
export const authorization = (apiKey: Option.Option<Redacted.Redacted>) =>
  HttpApiMiddleware.layerClient(Authorization, ({ next, request }) =>
    next(
      Option.match(apiKey, {
        onNone: () => request,
        onSome: (key) => HttpClientRequest.setHeader(request, "authorization", Redacted.value(key))
      })
    )
  )
