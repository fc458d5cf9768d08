import { Schema } from "effect"
import { ApiError } from "./ApiError.ts"
import { summaryOf } from "./Excerpts.ts"

/** One thing that is wrong with a request. */
export const Issue = Schema.Struct({
  in: Schema.Literals(["path", "query", "header", "body"]),
  path: Schema.String.annotate({
    description: "The member, dotted: `address.city`, `postalCodes.3`; empty for the whole."
  }),
  code: Schema.String.annotate({
    description: "A stable word for the problem: `required`, `unknownMember`, `wrongType`, `tooLong`, …"
  }),
  message: Schema.String,
  suggestions: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({ identifier: "Issue" })
export type Issue = typeof Issue.Type

/** The body, the query or the path does not decode, or breaks a rule that has no error of its own. */
export class InvalidRequestError extends ApiError<InvalidRequestError>()(
  "InvalidRequestError",
  { message: Schema.String, issues: Schema.Array(Issue) },
  { httpApiStatus: 400 }
) {
  static of = (issues: ReadonlyArray<Issue>) =>
    new InvalidRequestError({
      message: summaryOf(issues.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`))),
      issues
    })
  /** One issue with a part of the request. */
  static at = (place: Issue["in"], path: string, code: string, message: string) =>
    InvalidRequestError.of([{ in: place, path, code, message }])
  /** One issue with a member of the body. */
  static inBody = (path: string, code: string, message: string) => InvalidRequestError.at("body", path, code, message)
}

/** The definition of an error that has only a message: its tag, fields, status and description. */
const plainError = <const Tag extends string>(tag: Tag, httpApiStatus: number, description: string) =>
  [tag, { message: Schema.String }, { httpApiStatus, description }] as const

/** An unexpected failure of the service; the log has it under the request id. */
export class InternalServerError extends ApiError<InternalServerError>()(
  "InternalServerError",
  { message: Schema.String },
  { httpApiStatus: 500 }
) {}

export class RouteNotFoundError extends ApiError<RouteNotFoundError>()(
  ...plainError("RouteNotFoundError", 404, "No operation has this path.")
) {}

export class MethodNotAllowedError extends ApiError<MethodNotAllowedError>()(
  "MethodNotAllowedError",
  { message: Schema.String, allowed: Schema.Array(Schema.String) },
  { httpApiStatus: 405, description: "The path has no operation of this method; `Allow` lists its methods." }
) {}

export class RequestTimeoutError extends ApiError<RequestTimeoutError>()(
  ...plainError("RequestTimeoutError", 408, "The request did not arrive in time.")
) {}

export class PreconditionFailedError extends ApiError<PreconditionFailedError>()(
  ...plainError("PreconditionFailedError", 412, "`If-Match` does not name the current entity tag of the record.")
) {}

export class PayloadTooLargeError extends ApiError<PayloadTooLargeError>()(
  ...plainError("PayloadTooLargeError", 413, "The body is too large.")
) {}

export class UriTooLongError extends ApiError<UriTooLongError>()(
  ...plainError("UriTooLongError", 414, "The path or the query is too long.")
) {}

/** Another request had this `Idempotency-Key`. */
export class IdempotencyKeyReusedError extends ApiError<IdempotencyKeyReusedError>()(
  ...plainError(
    "IdempotencyKeyReusedError",
    422,
    "An earlier request with this `Idempotency-Key` had another method, URL or body."
  )
) {}

/** The first request with this `Idempotency-Key` is at work. */
export class IdempotencyInProgressError extends ApiError<IdempotencyInProgressError>()(
  ...plainError(
    "IdempotencyInProgressError",
    409,
    "The first request with this `Idempotency-Key` is not answered yet; `Retry-After` is the time to wait."
  )
) {}

export class UnsupportedMediaTypeError extends ApiError<UnsupportedMediaTypeError>()(
  ...plainError(
    "UnsupportedMediaTypeError",
    415,
    "The body has a type that the operation does not take, or is compressed."
  )
) {}

export class RateLimitExceededError extends ApiError<RateLimitExceededError>()(
  "RateLimitExceededError",
  { message: Schema.String, retryAfterSeconds: Schema.Int },
  {
    httpApiStatus: 429,
    description:
      "The key makes too many requests, uses more than its share of a busy process, or has too many bytes in files that nothing uses; the process has no room left; or a client downloads too many files, or has too many unknown keys looked up, at once. `Retry-After` is the time to wait."
  }
) {
  /** The message ends with the time that the error asks to wait: `… in 5 s`. */
  static retryIn = (message: string, retryAfterSeconds = 1) =>
    new RateLimitExceededError({ message: `${message} in ${retryAfterSeconds} s`, retryAfterSeconds })
}

/** @public The declarations of the client package name it. */
export class HeadersTooLargeError extends ApiError<HeadersTooLargeError>()(
  ...plainError("HeadersTooLargeError", 431, "The request line and the headers are too large.")
) {}

export class ServiceUnavailableError extends ApiError<ServiceUnavailableError>()(
  ...plainError(
    "ServiceUnavailableError",
    503,
    "The database or the storage cannot be reached, or the service is overloaded; retry after `Retry-After`."
  )
) {}

/** The signature of a file or part URL is wrong, or the URL has expired. */
export class InvalidAddressError extends ApiError<InvalidAddressError>()(
  "InvalidAddressError",
  { message: Schema.String },
  { httpApiStatus: 403 }
) {}

/** The requested range starts after the end of the file. */
export class RangeNotSatisfiableError extends ApiError<RangeNotSatisfiableError>()(
  "RangeNotSatisfiableError",
  { message: Schema.String, size: Schema.Int },
  { httpApiStatus: 416 }
) {}

/**
 * Errors that any operation can answer with. The middleware declares them once, so that the typed client decodes them;
 * the OpenAPI document has one reusable response for each, and no operation lists them.
 */
export const commonErrors = [
  RouteNotFoundError,
  MethodNotAllowedError,
  RequestTimeoutError,
  PreconditionFailedError,
  PayloadTooLargeError,
  UriTooLongError,
  UnsupportedMediaTypeError,
  RateLimitExceededError,
  HeadersTooLargeError,
  IdempotencyKeyReusedError,
  IdempotencyInProgressError,
  ServiceUnavailableError
] as const

/** All errors that do not belong to one operation. */
export const TransportError = Schema.Union([InvalidRequestError, InternalServerError, ...commonErrors])
export type TransportError = typeof TransportError.Type
