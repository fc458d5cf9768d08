import { Context, Effect, identity, Layer, Option, Predicate, Redacted, Stream, Struct } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { HttpApiClient, type HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import { Api, type Groups } from "../api/Api.ts"
import { Authorization } from "../api/Authorization.ts"
import { isRepeatedWithKey } from "../api/writes/SafeWrites.ts"
import { positionHeader } from "../domain/query/WalPosition.ts"
import * as Follow from "./Follow.ts"
import { idempotencyKey } from "./IdempotencyKey.ts"
import * as OwnWrites from "./OwnWrites.ts"
import * as Redirects from "./Redirects.ts"
import { type Failures, isIdempotent, limited, needsKey, retried, secondsOf } from "./Retries.ts"
import * as Certificates from "./Certificates.ts"
import { hasCredentials, isHeaderValue, isPortBlocked, messages } from "./Sendable.ts"

/** The stack of an error of the service would show how its JSON was decoded. */
const withoutStack = (error: unknown): void => {
  if (error instanceof Error && Predicate.hasProperty(error, "_tag")) {
    error.stack = `${String(error._tag)}: ${error.message}`
  }
}

/** The operations of the contract. A name, because the declaration of the client could not hold all their types. */
export interface Operations extends HttpApiClient.ForApi<typeof Api> {}

/**
 * The typed client, derived from the contract: `client.locations.list({ query: { limit: 10 } })` returns decoded records
 * and fails with typed errors.
 */
export class Client extends Context.Service<Client, Operations>()("waypost/client/Client") {
  /**
   * A client of the service at `baseUrl` that sends `apiKey`. As text, the key works even where npm has linked the package,
   * which then loads another copy of `effect`: a redacted value is only readable by the copy that made it.
   */
  static readonly layer = (options: { readonly baseUrl: string; readonly apiKey: Redacted.Redacted | string }) =>
    Layer.unwrap(Effect.map(keyOf(options.apiKey), (apiKey) => layerOf(options.baseUrl, apiKey)))
}

const foreignKey =
  "The key was made by another copy of effect. Pass it as text, or install @waypost/client from its tarball or with --install-links"

const keyOf = (apiKey: Redacted.Redacted | string): Effect.Effect<Redacted.Redacted> => {
  if (Predicate.isString(apiKey)) return Effect.succeed(Redacted.make(apiKey))
  return Option.match(Option.liftThrowable(Redacted.value<string>)(apiKey), {
    onNone: () => Effect.die(new Error(foreignKey)),
    onSome: () => Effect.succeed(apiKey)
  })
}

type Answer = HttpClientResponse.HttpClientResponse
type Failure = HttpClientError.HttpClientError | Answer

const isAnswer = (failure: Failure): failure is Answer => !HttpClientError.isHttpClientError(failure)

/** Whether the next attempt may be answered otherwise: only a 409 because an earlier attempt still runs has `Retry-After`. */
const isTransientResponse = (response: Answer): boolean =>
  HttpClient.isTransientResponse(response) || (response.status === 409 && response.headers["retry-after"] !== undefined)

const isTransientError = (error: HttpClientError.HttpClientError): boolean =>
  HttpClient.isTransientError(error) && !isPortBlocked(error) && !Certificates.isRejected(error)

const failures: Failures<Failure> = {
  isTransient: (failure) => isAnswer(failure) || isTransientError(failure),
  retryAfterOf: (failure) => (isAnswer(failure) ? secondsOf(failure.headers["retry-after"]) : undefined)
}

/** Repeats a request that failed for a moment, for which a transient response counts as a failure. */
const repeated = (request: Effect.Effect<Answer, HttpClientError.HttpClientError>) =>
  Effect.catchIf(
    retried(
      Effect.filterOrFail(request, (response) => !isTransientResponse(response), identity<Answer>),
      failures
    ),
    isAnswer,
    (response) => Effect.succeed(response)
  )

/** Why fetch can never send a request, if it cannot. */
const obstacleOf = (request: HttpClientRequest.HttpClientRequest, url: URL) => {
  if (hasCredentials(url)) return new HttpClientError.InvalidUrlError({ request, description: messages.credentials })
  const key = request.headers["authorization"]
  return key === undefined || isHeaderValue(key)
    ? undefined
    : new HttpClientError.EncodeError({ request, description: messages.key })
}

/** The response with bytes that have arrived: the body of the first one cannot be read again, for example as a stream. */
const withBytes = (response: Answer, bytes: ArrayBuffer): Answer =>
  Option.match(HttpClientResponse.toWeb(response), {
    onNone: () => response,
    onSome: (source) =>
      // Some statuses permit no body, not even an empty one.
      HttpClientResponse.fromWeb(response.request, new Response(bytes.byteLength === 0 ? null : bytes, source))
  })

/** A response whose JSON has arrived. The decoder reads it after the last attempt: too late to repeat a request that broke off. */
const received = (response: Answer) =>
  response.headers["content-type"]?.startsWith("application/json") === true
    ? response.arrayBuffer.pipe(
        Effect.mapBoth({
          onFailure: ({ cause, request }) => {
            const description = "The connection broke before the end of the answer"
            const reason = new HttpClientError.TransportError({ request, cause, description })
            return new HttpClientError.HttpClientError({ reason })
          },
          onSuccess: (bytes) => withBytes(response, bytes)
        })
      )
    : Effect.succeed(response)

/** Repeats what a repetition cannot change, and reads the writes of this client also from a replica. */
const patient = (client: HttpClient.HttpClient) => {
  const writes = OwnWrites.make()
  return HttpClient.make((request, url) => {
    const reason = obstacleOf(request, url)
    if (reason !== undefined) return Effect.fail(new HttpClientError.HttpClientError({ reason }))
    const named = HttpClientRequest.setHeaders(request, writes.headersOf(request.method))
    const answered = limited(client.execute(named), (description) => {
      return new HttpClientError.HttpClientError({
        reason: new HttpClientError.TransportError({ request, description })
      })
    })
    const sent = Effect.flatMap(answered, received)
    return (isIdempotent(request) ? repeated(sent) : sent).pipe(
      Effect.tap(({ headers }) => Effect.sync(() => writes.note(request.method, headers[positionHeader])))
    )
  })
}

/** A group is made at its first use, because making the codecs of all operations takes longer than most commands. */
const operations = Effect.fnUntraced(function* (baseUrl: string) {
  const httpClient = patient(yield* HttpClient.HttpClient)
  const run = Effect.runSyncWith(yield* Effect.context<HttpApiGroup.MiddlewareClient<Groups>>())
  const transformResponse = Effect.tapError((error: unknown) => Effect.sync(() => withoutStack(error)))
  const made = {}
  for (const group of Struct.keys(Api.groups)) {
    const get = () => {
      const value = run(HttpApiClient.group(Api, { baseUrl, group, httpClient, transformResponse }))
      Object.defineProperty(made, group, { value, enumerable: true })
      return value
    }
    Object.defineProperty(made, group, { get, enumerable: true, configurable: true })
  }
  return made as Operations
})

const layerOf = (baseUrl: string, apiKey: Redacted.Redacted) =>
  Layer.effect(Client, operations(baseUrl)).pipe(Layer.provide(sending(apiKey)), Layer.provide(Redirects.layer))

/** Sends the key with every request, and an `Idempotency-Key` with a write that needs one to be repeated safely. */
const sending = (apiKey: Redacted.Redacted) =>
  HttpApiMiddleware.layerClient(Authorization, ({ endpoint, next, request }) => {
    const authorized = HttpClientRequest.setHeader(request, "authorization", Redacted.value(apiKey))
    return isRepeatedWithKey(endpoint) && needsKey(authorized)
      ? Effect.flatMap(idempotencyKey, (key) => next(HttpClientRequest.setHeader(authorized, "idempotency-key", key)))
      : next(authorized)
  })

type EventsQuery = NonNullable<Parameters<Client["Service"]["events"]["list"]>[0]["query"]>

/** What `events` takes: the parameters of the list of events, without those of its pages. */
export type FollowQuery = Omit<EventsQuery, "limit" | "order" | "wait">

/** The answers that a later attempt may not meet. */
const transient: ReadonlySet<string> = new Set([
  "InternalServerError",
  "RateLimitExceededError",
  "RequestTimeoutError",
  "ServiceUnavailableError"
])

/** Whether a later attempt may succeed; a proxy may answer with a status and a body that no operation has. */
const isTransient = (error: { readonly _tag: string }) =>
  HttpClientError.isHttpClientError(error)
    ? isTransientError(error) || (error.response !== undefined && isTransientResponse(error.response))
    : transient.has(error._tag)

/** The seconds after which the service, or a proxy before it, asks to repeat a request. */
const retryAfterOf = (error: { readonly _tag: string }) => {
  if (HttpClientError.isHttpClientError(error)) return secondsOf(error.response?.headers["retry-after"])
  return Predicate.hasProperty(error, "retryAfterSeconds") && Predicate.isNumber(error.retryAfterSeconds)
    ? error.retryAfterSeconds
    : undefined
}

/**
 * The pages of the log as it grows, from a cursor on, or from the oldest event on: each has the events, of which there may be none,
 * and the `cursor` to go on from. With filters, it moves on past the events that were left out.
 */
export const eventPages = (query: FollowQuery = {}) =>
  Stream.unwrap(
    Effect.map(Client, (client) => {
      const read = (part: Pick<EventsQuery, "after" | "wait">) => client.events.list({ query: { ...query, ...part } })
      return Stream.paginate(query.after, (after) =>
        Effect.map(
          Follow.next({ read, isTransient, retryAfterOf }, after),
          ({ cursor, data }) => [[{ cursor, data }], Option.some(cursor)] as const
        )
      )
    })
  )

/**
 * The events of the log as they are committed, from a cursor on, or from the oldest event on: `events({ after })`. It never
 * ends; an interrupted program goes on with the `cursor` of the last event that it has handled.
 */
export const events = (query: FollowQuery = {}) =>
  Stream.flattenIterable(Stream.map(eventPages(query), ({ data }) => data))

type PlanQuery = Parameters<Client["Service"]["plans"]["create"]>[0]["query"]

/** Plans a collection from records, or from the bytes of NDJSON: `plan({ resource: "locations" }, records)`. */
export const plan = (query: PlanQuery, file: ReadonlyArray<object> | Uint8Array<ArrayBuffer>) => {
  const payload =
    file instanceof Uint8Array
      ? file
      : new TextEncoder().encode(file.map((record) => `${JSON.stringify(record)}\n`).join(""))
  return Effect.flatMap(Client, (client) => client.plans.create({ query, payload }))
}
