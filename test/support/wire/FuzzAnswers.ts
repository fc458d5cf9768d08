import { Effect } from "effect"
import { document } from "../contract/Documented.ts"
import { checkAnswer } from "../answers.ts"
import type { Answer, Sent } from "./Wire.ts"

/** A request of a fuzzer. */
export interface Shot {
  readonly method: string
  readonly path: string
  readonly sent: Sent
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`),
    statuses: Object.keys(responses).map(Number)
  }))
)

/** The errors that any request can get, which are documented once for the whole API. */
const transport: Readonly<Record<number, string>> = {
  400: "InvalidRequestError",
  404: "RouteNotFoundError",
  405: "MethodNotAllowedError",
  412: "PreconditionFailedError",
  413: "PayloadTooLargeError",
  414: "UriTooLongError",
  415: "UnsupportedMediaTypeError",
  429: "RateLimitExceededError",
  // From the HTTP parser: the request line and the headers together exceed 16 KiB.
  431: "HeadersTooLargeError"
}

const pages = new Set(["/", "/docs", "/v1/openapi.json", "/healthz", "/readyz", "/metrics"])

/** The problem with the status, headers or tag of a response, if any. */
const shapeProblem = ({ method, path }: Shot, { body, headers, status, text }: Answer): string | undefined => {
  const [route = ""] = path.split("?")
  if (status >= 500) return "a server error"
  if (typeof headers["x-request-id"] !== "string") return "no request id"
  if (method === "HEAD" || status === 204 || status === 304) return text === "" ? undefined : "an unexpected body"
  if (pages.has(route) && status === 200) return undefined
  if (headers["content-type"] !== "application/json") return "a content type other than JSON"
  if (typeof body?._tag !== "string") return "no _tag"
  if ((body._tag === "Success") !== (status >= 200 && status < 300)) return "a tag that does not match the status"
  if (body._tag !== "Success" && typeof body.message !== "string") return "no message"
  if (transport[status] === body._tag) return undefined
  const declared = operations.find((operation) => operation.method === method && operation.path.test(route))
  return declared?.statuses.includes(status) === true ? undefined : "a status that is not declared"
}

/** The problem with a response, if any: its shape, or a body that does not decode with its schema. */
export const problemOf = (shot: Shot, answer: Answer): Effect.Effect<string | undefined> => {
  const problem = shapeProblem(shot, answer)
  const hasBody = answer.text !== "" && answer.status !== 431
  if (problem !== undefined || !hasBody) return Effect.succeed(problem)
  const [route = "", ...query] = shot.path.split("?")
  return Effect.try({
    try: () => {
      const url = new URL(route, "http://waypost.test")
      url.search = query.join("?")
      return checkAnswer(shot.method, url, {
        status: answer.status,
        header: (name) => answer.headers[name],
        text: answer.text
      })
    },
    catch: (error) => `a response that does not decode (${String(error)})`.slice(0, 1000)
  }).pipe(Effect.as(undefined), Effect.catch(Effect.succeed))
}
