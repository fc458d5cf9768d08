import { Effect, Layer, Result, Schema, type SchemaIssue } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiError, type HttpApiEndpoint } from "effect/http-api"
import { isUtf8 } from "node:buffer"
import { ErrorBoundary } from "../../api/ErrorBoundary.ts"
import { failureAnnotation, InvalidFilterError } from "../../domain/query/Filter.ts"
import { InvalidRequestError, type Issue, UnsupportedMediaTypeError } from "../../domain/write/RequestErrors.ts"
import * as Issues from "../../domain/write/Issues.ts"

const parts: Partial<Record<HttpApiError.HttpApiSchemaError["kind"], Issue["in"]>> = {
  Params: "path",
  Query: "query",
  Headers: "header",
  Payload: "body"
}

/** Above this size a body is told only its first problem: looking for all of them could keep everyone waiting. */
const smallBody = 64 * 1024

/**
 * Requests that do not decode become 400s that name the member. A response that does not encode is our mistake, not the
 * client's, and stays a defect.
 */
export const layer = Layer.succeed(
  ErrorBoundary,
  (respond, { endpoint }) =>
    Effect.catch(
      Effect.andThen(refuseUnreadable(endpoint), respond),
      // The error channel of a middleware is opaque: what is not ours passes through as it came.
      (error: unknown) =>
        HttpApiError.HttpApiSchemaError.is(error) && parts[error.kind] !== undefined
          ? Effect.flatMap(invalid(error, parts[error.kind]!, endpoint), Effect.fail)
          : (Effect.fail(error) as never)
    ) as never
)

const invalid = Effect.fnUntraced(function* (
  error: HttpApiError.HttpApiSchemaError,
  part: Issue["in"],
  endpoint: HttpApiEndpoint.Top
) {
  const prepared = Issues.preparedIn(error.cause.issue, failureAnnotation)
  if (prepared instanceof InvalidFilterError) return prepared
  const issue = part === "body" ? yield* allProblems(error.cause.issue, endpoint) : error.cause.issue
  return InvalidRequestError.of(Issues.describe(issue, part))
})

const payloads = new WeakMap<HttpApiEndpoint.Top, (value: unknown) => Effect.Effect<unknown, Schema.SchemaError>>()

/** Reads a small body once more, this time for all its problems. */
const allProblems = Effect.fnUntraced(function* (first: SchemaIssue.Issue, endpoint: HttpApiEndpoint.Top) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const text = yield* Effect.orDie(request.text)
  const json = text.length <= smallBody ? parseJson(text) : Result.fail("too large")
  if (Result.isFailure(json)) return first
  const decode = payloads.get(endpoint) ?? decoderOf(endpoint)
  payloads.set(endpoint, decode)
  const all = yield* Effect.result(decode(json.success))
  return Result.isFailure(all) ? all.failure.issue : first
})

const parseJson = (text: string): Result.Result<unknown, unknown> => Result.try(() => JSON.parse(text))

const decoderOf = (endpoint: HttpApiEndpoint.Top) => {
  const schemas = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
  return Schema.decodeUnknownEffect(Schema.Union(schemas) as unknown as Schema.Codec<unknown>, {
    errors: "all",
    onExcessProperty: "error",
    reportInput: true
  })
}

/** The lenient decoder of the platform would store U+FFFD where the client sent broken bytes. */
const refuseUnreadable = (endpoint: HttpApiEndpoint.Top) =>
  endpoint.payload.size === 0
    ? Effect.void
    : Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        // The platform refuses any other type by itself, and nobody has to read such a body first.
        if (!endpoint.payload.has(mediaTypeOf(request))) return
        const encoding = request.headers["content-encoding"]
        if (encoding !== undefined && encoding !== "identity") return yield* Effect.die(compressed)
        const bytes = yield* Effect.orDie(request.arrayBuffer)
        if (!isUtf8(bytes)) return yield* notUtf8
      })

const mediaTypeOf = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  (headers["content-type"] ?? "application/json").split(";")[0]!.trim().toLowerCase()

const compressed = new UnsupportedMediaTypeError({ message: "Send the body without Content-Encoding" })

const notUtf8 = InvalidRequestError.of([
  { in: "body", path: "", code: "invalidEncoding", message: "The body is not valid UTF-8" }
])
