import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import type { Share } from "../../../domain/keys/Share.ts"
import { RateLimitExceededError } from "../../../domain/write/RequestErrors.ts"
import { validateOnly } from "../../../domain/write/SafeWrites.ts"
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
  headers["preference-applied"] !== validateOnly &&
  headers["idempotent-replayed"] === undefined

/**
 * Counts the bytes of an answer in the share of its key until the client has read them. An answer whose bytes exceed the share is replaced
 * by 429, unless a write is done: that counts with what is left of the share.
 */
export const make = Effect.map(
  Shares,
  (shares) =>
    (
      request: HttpServerRequest.HttpServerRequest,
      share: Share | undefined,
      answer: HttpServerResponse.HttpServerResponse
    ) => {
      const { body } = answer
      const isSmall = body._tag !== "Uint8Array" || body.contentLength < minUnreadBytes
      if (isSmall || share === undefined || !(request.source instanceof IncomingMessage)) return answer
      const isDone = isOfWrite(request, answer)
      if (!isDone && !shares.take(share, "unreadBytes", body.contentLength))
        return toResponse(rejection(shares, share, body.contentLength))
      const bytes = isDone ? shares.takeRest(share, "unreadBytes", body.contentLength) : body.contentLength
      const response = NodeHttpServerRequest.toServerResponse(request)
      const done = () => shares.release(share, "unreadBytes", bytes)
      // The response of a client that has hung up has no further event.
      if (response.destroyed) done()
      else response.once("close", done)
      return answer
    }
)

/** The rejection of a write that would add to the unread answers of a share with no room for more, before it is done. */
export const rejectionOf = (
  shares: Shares["Service"],
  request: HttpServerRequest.HttpServerRequest,
  share: Share
): RateLimitExceededError | undefined =>
  !isRead(request) && shares.isUsedUp(share, "unreadBytes") ? rejection(shares, share, 1) : undefined

const rejection = ({ exceeds }: Shares["Service"], share: Share, bytes: number) =>
  exceeds(share, "unreadBytes", bytes) ? tooManyUnread : tooManyInProcess

const tooManyUnread = new RateLimitExceededError({
  message: "This key has too many answers that its clients have not read; read them, then try again",
  retryAfterSeconds: 1
})

const tooManyInProcess = RateLimitExceededError.retryIn(
  "The service has too many answers that the clients of all keys have not read; try again"
)
