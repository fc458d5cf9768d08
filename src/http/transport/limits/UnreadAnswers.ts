import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import type { Share } from "../../../domain/keys/Share.ts"
import { RateLimitExceededError } from "../../../domain/write/RequestErrors.ts"
import { toResponse } from "../Failures.ts"
import { minUnreadBytes, Shares } from "./Shares.ts"

const isRead = ({ method }: HttpServerRequest.HttpServerRequest) => method === "GET" || method === "HEAD"

/** Whether an answer says what a write has done now; any other may be rejected although it is made. */
const isOfWrite = (
  request: HttpServerRequest.HttpServerRequest,
  { headers, status }: HttpServerResponse.HttpServerResponse
) =>
  !isRead(request) &&
  status < 300 &&
  headers["preference-applied"] !== "validate-only" &&
  headers["idempotent-replayed"] === undefined

/**
 * Counts the bytes of an answer in the share of its key until the client has read them. An answer whose bytes exceed the share is replaced
 * by 429, unless a write is done: that counts with what is left of the share.
 */
export const make = Effect.map(
  Shares,
  ({ release, take, takeRest }) =>
    (
      request: HttpServerRequest.HttpServerRequest,
      share: Share | undefined,
      answer: HttpServerResponse.HttpServerResponse
    ) => {
      const { body } = answer
      const isSmall = body._tag !== "Uint8Array" || body.contentLength < minUnreadBytes
      if (isSmall || share === undefined || !(request.source instanceof IncomingMessage)) return answer
      const isDone = isOfWrite(request, answer)
      if (!isDone && !take(share, "unreadBytes", body.contentLength)) return toResponse(tooManyUnread)
      const bytes = isDone ? takeRest(share, "unreadBytes", body.contentLength) : body.contentLength
      const response = NodeHttpServerRequest.toServerResponse(request)
      const done = () => release(share, "unreadBytes", bytes)
      // The response of a client that has hung up has no further event.
      if (response.destroyed) done()
      else response.once("close", done)
      return answer
    }
)

/** Whether a write would add to unread answers that have used up the share of its key, and is rejected before it is done. */
export const isRejected = (
  { isUsedUp }: Shares["Service"],
  request: HttpServerRequest.HttpServerRequest,
  share: Share
): boolean => !isRead(request) && isUsedUp(share, "unreadBytes")

export const tooManyUnread = new RateLimitExceededError({
  message: "This key has too many answers that its clients have not read; read them, then try again",
  retryAfterSeconds: 1
})
