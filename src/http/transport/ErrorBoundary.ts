import { Context, Effect, Layer, Result, Schema, SchemaIssue, type Types } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"
import { HttpApiError, type HttpApiEndpoint } from "effect/http-api"
import { isUtf8 } from "node:buffer"
import * as Deprecation from "../../api/openapi/Deprecation.ts"
import { ErrorBoundary } from "../../api/ErrorBoundary.ts"
import { codecOf } from "../../domain/schema/Codec.ts"
import { failureAnnotation, InvalidFilterError } from "../../domain/query/Filter.ts"
import { parseJson } from "../../domain/schema/Json.ts"
import { InvalidRequestError, type Issue, UnsupportedMediaTypeError } from "../../domain/write/RequestErrors.ts"
import { overloaded } from "./Failures.ts"
import { CurrentPlace } from "./InFlight.ts"
import * as BulkPlace from "./limits/BulkPlace.ts"
import { appendHeaders } from "./ResponseHeaders.ts"
import * as SlowBody from "../streams/SlowBody.ts"
import * as Issues from "../../domain/write/Issues.ts"

const parts: Partial<Record<HttpApiError.HttpApiSchemaError["kind"], Issue["in"]>> = {
  Params: "path",
  Query: "query",
  Headers: "header",
  Payload: "body"
}

type Failure = Types.unhandled | InvalidRequestError | UnsupportedMediaTypeError

/**
 * Requests that do not decode become 400s that name the member. A response that does not encode is a defect. Every response
 * of a deprecated endpoint says so.
 */
export const layer = Layer.sync(ErrorBoundary, () => {
  const reject = makeReject()
  return (respond, { endpoint }) => {
    const decoded = endpoint.payload.size === 0 ? respond : Effect.andThen(checkBody(endpoint), respond)
    return Effect.catch(
      announced(endpoint, endpoint.query === undefined ? Effect.andThen(checkNoQuery, decoded) : decoded),
      (
        error: Failure | HttpApiError.HttpApiSchemaError
      ): Effect.Effect<never, Failure, HttpServerRequest.HttpServerRequest> => {
        if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
        const part = parts[error.kind]
        return part === undefined ? Effect.die(error) : reject(error.cause.issue, part, endpoint)
      }
    )
  }
})

/** The decoder of an empty struct accepts any member, so what the struct does not have is looked for here. */
const noQuery = Schema.Struct({}).ast

/** An endpoint without parameters rejects those of a request as the decoder of a query rejects unknown ones. */
const checkNoQuery = Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) => {
  const [first, ...others] = Object.keys(query).map(
    (name) => new SchemaIssue.Pointer([name], new SchemaIssue.UnexpectedKey(noQuery, query[name], Issues.strict))
  )
  if (first === undefined) return Effect.void
  const issue = new SchemaIssue.Composite(noQuery, [first, ...others], query, Issues.strict)
  return Effect.fail(new HttpApiError.HttpApiSchemaError({ kind: "Query", cause: new Schema.SchemaError(issue) }))
})

const announced = <A, E, R>(endpoint: HttpApiEndpoint.Top, respond: Effect.Effect<A, E, R>) => {
  const notice = Context.getOrUndefined(endpoint.annotations, Deprecation.Deprecation)
  if (notice === undefined) return respond
  return Effect.andThen(appendHeaders(Deprecation.headersOf(notice)), respond)
}

const makeReject = () => {
  const decoders = new WeakMap<HttpApiEndpoint.Top, ReturnType<typeof decoderOf>>()

  /** Decodes a small body again, this time for all its problems. */
  const allProblems = Effect.fnUntraced(function* (first: SchemaIssue.Issue, endpoint: HttpApiEndpoint.Top) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const text = yield* Effect.orDie(request.text)
    const json = text.length <= Issues.maxFullyChecked ? parseJson(text) : Result.fail("too large")
    if (Result.isFailure(json)) return first
    const decode = decoders.get(endpoint) ?? decoderOf(endpoint)
    decoders.set(endpoint, decode)
    const all = yield* Effect.result(decode(json.success))
    return Result.isFailure(all) ? all.failure.issue : first
  })

  return Effect.fnUntraced(function* (issue: SchemaIssue.Issue, part: Issue["in"], endpoint: HttpApiEndpoint.Top) {
    const prepared = Issues.preparedIn(issue, failureAnnotation)
    // Only endpoints with a filter can have this error, and they declare it.
    if (prepared instanceof InvalidFilterError) return yield* Effect.fail(prepared) as Effect.Effect<never>
    const all = part === "body" ? yield* allProblems(issue, endpoint) : issue
    return yield* InvalidRequestError.of(Issues.describe(all, part))
  })
}

const decoderOf = (endpoint: HttpApiEndpoint.Top) => {
  const schemas = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
  return Schema.decodeUnknownEffect(codecOf(Schema.Union(schemas)), {
    ...Issues.strict,
    errors: "all"
  })
}

/** The decoder of the platform would replace invalid UTF-8 with U+FFFD. */
const checkBody = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { "content-encoding": encoding = "identity" } = request.headers
  // RFC 9110, 8.4.1: the names of codings are case-insensitive.
  if (encoding.toLowerCase() !== "identity") return yield* compressed
  // The handler reads a slow body. The platform rejects any other type itself, without reading the body.
  if (SlowBody.isSlow(endpoint) || !endpoint.payload.has(mediaTypeOf(request))) return
  const place = yield* CurrentPlace
  // A body that arrives slowly holds no place of other keys; it counts in the share of its key.
  place.leave()
  if (place.bulk !== undefined) yield* BulkPlace.hold(place.bulk, yield* declaredBytes(request))
  const bytes = yield* Effect.orDie(request.arrayBuffer)
  if (place.bulk !== undefined) {
    yield* BulkPlace.hold(place.bulk, bytes.byteLength)
    yield* BulkPlace.enterSoon(place.bulk)
  }
  if (!place.enter()) return yield* Effect.die(overloaded)
  if (!isUtf8(bytes)) return yield* notUtf8
})

/** The bytes that a body has at most. */
const declaredBytes = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  Effect.map(HttpIncomingMessage.MaxBodySize, (max) =>
    Math.min(Number(headers["content-length"] ?? Infinity), Number(max ?? Infinity))
  )

const mediaTypeOf = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  (headers["content-type"] ?? "application/json").split(";")[0]!.trim().toLowerCase()

const compressed = new UnsupportedMediaTypeError({ message: "Send the body without Content-Encoding" })

const notUtf8 = InvalidRequestError.inBody("", "invalidEncoding", "The body is not valid UTF-8")
