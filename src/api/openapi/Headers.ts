import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { keptHours, validateOnly } from "../../domain/write/SafeWrites.ts"
import type { Annotatable } from "../Annotations.ts"
import type { Parameter, Placed, Reference } from "./Operation.ts"
import { offers, readsPrecondition } from "../writes/SafeWrites.ts"
import { isStream } from "./Streams.ts"

const text = { type: "string" }

/** The headers of responses. */
export const headerComponents = {
  "X-Request-Id": {
    description:
      "The id of the request, which errors and the log contain: the one that the request sent in this header, or a new one.",
    required: true,
    schema: text
  },
  ETag: {
    description: "The entity tag of what was read, or of what a write leaves, for `If-None-Match` and `If-Match`.",
    schema: { ...text, examples: ['"1c3f0a9be2d84d55"'] }
  },
  "Waypost-Position": {
    description:
      "The position in the log of the database of a write, or of the replica that answered, if the service has replicas. A request with it in this header gets an answer that is no older.",
    schema: { ...text, examples: ["16/B374D848"] }
  },
  Warning: {
    description: "What is unusual about a write that succeeded, such as an identifier that differs only by case.",
    schema: text
  },
  "Idempotent-Replayed": {
    description: "`true` when the response is that of the first request with its `Idempotency-Key`.",
    schema: { ...text, examples: ["true"] }
  },
  "Preference-Applied": {
    description: "`validate-only` when the request was validated and nothing was written.",
    schema: { ...text, examples: [validateOnly] }
  },
  "Content-Language": { description: "The locale of the translation.", schema: { ...text, examples: ["nl-NL"] } },
  "WWW-Authenticate": {
    description: "The scheme of the credentials.",
    required: true,
    schema: { ...text, examples: ["ApiKey"] }
  },
  Allow: {
    description: "The methods of the path.",
    schema: { ...text, examples: ["GET, HEAD, OPTIONS, POST"] }
  },
  "Retry-After": {
    description: "The seconds until the request can be repeated.",
    schema: { type: "integer", minimum: 0, maximum: 86_400, examples: [1] }
  },
  RateLimit: {
    description:
      "What is left of the rate limit of the key, if the service has one (draft-ietf-httpapi-ratelimit-headers).",
    schema: { ...text, examples: ['"default";r=49;t=1'] }
  },
  "RateLimit-Policy": {
    description: "The rate limit of the key, if the service has one.",
    schema: { ...text, examples: ['"default";q=50;w=1'] }
  }
} as const

type Name = keyof typeof headerComponents

/** References to headers. */
export const headersOf = (...names: ReadonlyArray<Name>): Readonly<Record<string, Reference>> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** The headers that only some endpoints answer with. An endpoint without this annotation has none of them. */
export class SpecialHeaders extends Context.Service<SpecialHeaders, ReadonlyArray<Name>>()(
  "waypost/api/openapi/Headers/SpecialHeaders"
) {}

/** Declares headers of the successful response of an endpoint, in addition to those of every endpoint. */
export const answersHeaders =
  (...names: ReadonlyArray<Name>) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    endpoint.annotateMerge(SpecialHeaders.context(names))

const always: ReadonlyArray<Name> = ["X-Request-Id", "RateLimit", "RateLimit-Policy"]
const ofSuccesses: ReadonlyArray<Name> = [...always, "Waypost-Position"]

/** The names of the headers of a response of a method or of a stream, in addition to those that only some endpoints have. */
export const namesFor = (kind: string, status: string, special: ReadonlyArray<Name>): ReadonlyArray<Name> => {
  if (status === "401") return ["X-Request-Id", "WWW-Authenticate"]
  if (!status.startsWith("2")) return always
  return [...ofSuccesses, ...(kind === "get" ? (["ETag"] as const) : []), ...special]
}

/** The headers of an error that any operation can answer with, by its tag. */
export const namesForError = (tag: string): ReadonlyArray<Name> => {
  if (tag === "MethodNotAllowedError") return ["X-Request-Id", "Allow"]
  if (tag === "RateLimitExceededError") return [...always, "Retry-After"]
  return tag === "ServiceUnavailableError" || tag === "IdempotencyInProgressError"
    ? ["X-Request-Id", "Retry-After"]
    : ["X-Request-Id"]
}

const header = (name: string, description: string, example: string): Parameter => ({
  name,
  in: "header",
  required: false,
  schema: { ...text, examples: [example] },
  description
})

const ifNoneMatch = header(
  "If-None-Match",
  "The `ETag` of an earlier response. While it is current, the response is 304 without a body.",
  '"1c3f0a9be2d84d55"'
)
const position = header(
  "Waypost-Position",
  "The `Waypost-Position` of an earlier response. The answer is no older, whichever node and replica it comes from.",
  "16/B374D848"
)
const ifMatch = header(
  "If-Match",
  "The `ETag` of the record that was read. If the record has changed since, the response is 412 and nothing is written.",
  '"1c3f0a9be2d84d55"'
)

const idempotencyKey = header(
  "Idempotency-Key",
  `1 to 255 visible ASCII characters that the client chooses. A repetition with the same key within ${keptHours} hours gets the response of the first request, and writes nothing.`,
  "0192f3a8-5c1e-7cc1-9d3e-0b6f3a1c2d4e"
)
const prefer = header(
  "Prefer",
  'With `validate-only` the request is validated, by the rules of the database too, and nothing is written: the response is the error of the write, or 200 with the data `{ "valid": true }`. A bulk request has the outcomes of its operations.',
  validateOnly
)

/** The headers that an operation reads, besides those that it declares. */
export const requestHeaders = (
  { method, operation }: Placed,
  endpoint: HttpApiEndpoint.Top
): ReadonlyArray<Parameter> => {
  if (isStream(operation)) return []
  if (method === "get") return [ifNoneMatch, position]
  return [
    ...(readsPrecondition(endpoint) ? [ifMatch] : []),
    ...(offers(endpoint, "Idempotency-Key") ? [idempotencyKey] : []),
    ...(offers(endpoint, "validate-only") ? [prefer] : [])
  ]
}

/** The headers of a success that show how the write was made safe. */
export const safeWriteHeaders = (endpoint: HttpApiEndpoint.Top): ReadonlyArray<Name> => [
  ...(offers(endpoint, "Idempotency-Key") ? (["Idempotent-Replayed"] as const) : []),
  ...(offers(endpoint, "validate-only") ? (["Preference-Applied"] as const) : [])
]
