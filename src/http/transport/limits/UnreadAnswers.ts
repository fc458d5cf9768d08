import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import type { Share } from "../../../domain/keys/Share.ts"
import { RateLimitExceededError } from "../../../domain/write/RequestErrors.ts"
import { toResponse } from "../Failures.ts"
import { minUnreadBytes, Shares } from "./Shares.ts"

/**
 * Counts the bytes of an answer in the share of its key until the client has read them. A read whose bytes exceed the share is answered
 * 429; a write is done, and its answer says so.
 */
export const make = Effect.map(
  Shares,
  ({ add, release, take }) =>
    (
      request: HttpServerRequest.HttpServerRequest,
      share: Share | undefined,
      answer: HttpServerResponse.HttpServerResponse
    ) => {
      const { body } = answer
      const isSmall = body._tag !== "Uint8Array" || body.contentLength < minUnreadBytes
      if (isSmall || share === undefined || !(request.source instanceof IncomingMessage)) return answer
      const bytes = body.contentLength
      if (request.method !== "GET" && request.method !== "HEAD") add(share, "unreadBytes", bytes)
      else if (!take(share, "unreadBytes", bytes)) return tooManyUnread()
      const response = NodeHttpServerRequest.toServerResponse(request)
      const done = () => release(share, "unreadBytes", bytes)
      // The response of a client that has hung up has no further event.
      if (response.destroyed) done()
      else response.once("close", done)
      return answer
    }
)

const tooManyUnread = () =>
  toResponse(
    new RateLimitExceededError({
      message: "This key has too many answers that its clients have not read; read them, then try again",
      retryAfterSeconds: 1
    })
  )
