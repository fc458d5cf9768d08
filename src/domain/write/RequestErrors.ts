import { Schema } from "effect"

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

/** Body, query or path does not decode, or a rule that has no error of its own refuses it. */
export class InvalidRequestError extends Schema.TaggedError<InvalidRequestError>()(
  "InvalidRequestError",
  { message: Schema.String, issues: Schema.Array(Issue) },
  { httpApiStatus: 400 }
) {
  static of = (issues: ReadonlyArray<Issue>) =>
    new InvalidRequestError({
      message: issues
        .map(({ message, path }) => (path === "" ? message : `${path}: ${message}`))
        .slice(0, 3)
        .join("; "),
      issues
    })
}

/** Something broke on our side; the log has it under the request id. */
export class InternalServerError extends Schema.TaggedError<InternalServerError>()(
  "InternalServerError",
  { message: Schema.String, requestId: Schema.String },
  { httpApiStatus: 500 }
) {}

/*
 * The transport errors: any operation can answer with them, so they are documented once for the whole API instead of
 * fifty times, and raised as defects, which `http/transport/Transport.ts` turns into answers by the schemas here.
 */

export class RouteNotFoundError extends Schema.TaggedError<RouteNotFoundError>()(
  "RouteNotFoundError",
  { message: Schema.String },
  { httpApiStatus: 404 }
) {}

export class MethodNotAllowedError extends Schema.TaggedError<MethodNotAllowedError>()(
  "MethodNotAllowedError",
  { message: Schema.String, allowed: Schema.Array(Schema.String) },
  { httpApiStatus: 405 }
) {}

/** The request did not arrive in time. */
export class RequestTimeoutError extends Schema.TaggedError<RequestTimeoutError>()(
  "RequestTimeoutError",
  { message: Schema.String },
  { httpApiStatus: 408 }
) {}

/** The client sent `If-Match` and the record has changed since it was read. */
export class PreconditionFailedError extends Schema.TaggedError<PreconditionFailedError>()(
  "PreconditionFailedError",
  { message: Schema.String },
  { httpApiStatus: 412 }
) {}

export class PayloadTooLargeError extends Schema.TaggedError<PayloadTooLargeError>()(
  "PayloadTooLargeError",
  { message: Schema.String },
  { httpApiStatus: 413 }
) {}

export class UriTooLongError extends Schema.TaggedError<UriTooLongError>()(
  "UriTooLongError",
  { message: Schema.String },
  { httpApiStatus: 414 }
) {}

export class UnsupportedMediaTypeError extends Schema.TaggedError<UnsupportedMediaTypeError>()(
  "UnsupportedMediaTypeError",
  { message: Schema.String },
  { httpApiStatus: 415 }
) {}

export class RateLimitExceededError extends Schema.TaggedError<RateLimitExceededError>()(
  "RateLimitExceededError",
  { message: Schema.String, retryAfterSeconds: Schema.Int },
  { httpApiStatus: 429 }
) {}

/** Written below Effect, by `http/transport/NodeServer.ts`. */
export class HeadersTooLargeError extends Schema.TaggedError<HeadersTooLargeError>()(
  "HeadersTooLargeError",
  { message: Schema.String },
  { httpApiStatus: 431 }
) {}

/** Database or storage cannot be reached, or the service is at its limit; trying again later may help. */
export class ServiceUnavailableError extends Schema.TaggedError<ServiceUnavailableError>()(
  "ServiceUnavailableError",
  { message: Schema.String },
  { httpApiStatus: 503 }
) {}

/** The address of a file or of a part was changed, or its time has passed. */
export class InvalidAddressError extends Schema.TaggedError<InvalidAddressError>()(
  "InvalidAddressError",
  { message: Schema.String },
  { httpApiStatus: 403 }
) {}

/** The part of a file that was asked for lies beyond its end. */
export class RangeNotSatisfiableError extends Schema.TaggedError<RangeNotSatisfiableError>()(
  "RangeNotSatisfiableError",
  { message: Schema.String, size: Schema.Int },
  { httpApiStatus: 416 }
) {}

/** All errors any operation can answer with. */
export const TransportError = Schema.Union([
  InvalidRequestError,
  RouteNotFoundError,
  MethodNotAllowedError,
  RequestTimeoutError,
  PreconditionFailedError,
  PayloadTooLargeError,
  UriTooLongError,
  UnsupportedMediaTypeError,
  RateLimitExceededError,
  HeadersTooLargeError,
  ServiceUnavailableError,
  InternalServerError
])
export type TransportError = typeof TransportError.Type
