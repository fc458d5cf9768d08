import { Effect } from "effect"
import { HttpBody, HttpServerRequest, HttpServerResponse } from "effect/http"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { entityTag } from "../../sql/EntityTag.ts"
import { matches } from "../transport/Envelope.ts"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

/** Whether the client takes gzip; `q=0` says that it does not. */
const takesGzip = (accepted = "") => /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted)

const make = (page: HttpServerResponse.HttpServerResponse, bytes: Uint8Array, contentType: string): Answer => {
  // Weak, because it stands for the packed bytes too.
  const headers = { etag: `W/${entityTag(bytes)}`, "cache-control": "no-cache", vary: "Accept-Encoding" }
  const known = HttpServerResponse.empty({ status: 304, headers })
  const holding = (body: Uint8Array, more = {}) =>
    HttpServerResponse.setHeaders(HttpServerResponse.setBody(page, HttpBody.uint8Array(body, contentType)), {
      ...headers,
      ...more
    })
  const plain = holding(bytes)
  const packed = Effect.runSync(
    Effect.cached(
      Effect.map(
        Effect.promise(() => promisify(gzip)(bytes)),
        (packed) => holding(packed, { "content-encoding": "gzip" })
      )
    )
  )
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: sent }) => {
    if (sent["if-none-match"] !== undefined && matches(sent["if-none-match"], headers.etag))
      return Effect.succeed(known)
    return takesGzip(sent["accept-encoding"]) ? packed : Effect.succeed(plain)
  })
}

const made = new WeakMap<Uint8Array, Answer>()

/**
 * A large answer that is the same for all, as bytes that all share: packed for those who take it, and not sent again to
 * those who have it. Node would keep a text once more for every answer, until its reader has taken all of it; with some
 * hundreds who read slowly that would be gigabytes.
 */
export const of = (page: HttpServerResponse.HttpServerResponse): Answer => {
  const { body } = page
  if (body._tag !== "Uint8Array") return Effect.succeed(page)
  const answer = made.get(body.body) ?? make(page, body.body, body.contentType)
  made.set(body.body, answer)
  return answer
}
