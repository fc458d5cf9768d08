import { Effect } from "effect"
import { HttpBody, HttpServerRequest, HttpServerResponse } from "effect/http"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { entityTag, isKnown } from "../../sql/EntityTag.ts"
import { lists } from "./AcceptHeaders.ts"

/** The route of a page. */
export const get = <const Path extends `/${string}`>(path: Path) => ({ method: "GET" as const, path })

interface Sources {
  readonly images?: Iterable<string>
  readonly connections?: Iterable<string>
}

/**
 * Nothing is inline, and everything comes from this origin or from the sources that are named. No other page shows this
 * one in a frame: people type keys into it.
 */
export const policyOf = ({ connections = [], images = [] }: Sources = {}) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' data:", ...images].join(" "),
    ["connect-src 'self'", ...connections].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

const takesGzip = lists("gzip")

const answerOf = Effect.fnUntraced(function* (
  page: HttpServerResponse.HttpServerResponse,
  bytes: Uint8Array,
  contentType: string
) {
  // A browser that gets a 304 keeps the policy that it has, so the tag changes with the policy.
  const tagged = Buffer.concat([bytes, Buffer.from(page.headers["content-security-policy"] ?? "")])
  // Weak, because it also stands for the compressed bytes.
  const headers = { etag: `W/${entityTag(tagged)}`, "cache-control": "no-cache", vary: "Accept-Encoding" }
  const unchanged = HttpServerResponse.empty({ status: 304, headers })
  const withBody = (body: Uint8Array, more = {}) =>
    HttpServerResponse.setHeaders(HttpServerResponse.setBody(page, HttpBody.uint8Array(body, contentType)), {
      ...headers,
      ...more
    })
  const plain = withBody(bytes)
  const compressed = yield* Effect.cached(
    Effect.map(
      Effect.promise(() => promisify(gzip)(bytes)),
      (body) => withBody(body, { "content-encoding": "gzip" })
    )
  )
  const answer: Answer = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: sent }) => {
    if (isKnown(sent["if-none-match"], headers.etag)) return Effect.succeed(unchanged)
    return takesGzip(sent["accept-encoding"]) ? compressed : Effect.succeed(plain)
  })
  return answer
})

/**
 * Sends large pages, which are the same for every client, as bytes that all responses share: compressed for clients that
 * accept gzip, and 304 for those that have them. Node would keep a copy of a text for each response until its reader has
 * taken all of it; some hundred slow readers would take gigabytes.
 */
export const make = Effect.sync(() => {
  const answers = new WeakMap<Uint8Array, Answer>()
  return (page: HttpServerResponse.HttpServerResponse): Answer => {
    const { body } = page
    if (body._tag !== "Uint8Array") return Effect.succeed(page)
    const known = answers.get(body.body)
    if (known !== undefined) return known
    return Effect.flatMap(answerOf(page, body.body, body.contentType), (answer) => {
      answers.set(body.body, answer)
      return answer
    })
  }
})
