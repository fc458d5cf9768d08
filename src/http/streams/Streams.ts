import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import { CurrentShare } from "../../domain/keys/Share.ts"
import { RateLimitExceededError } from "../../domain/write/RequestErrors.ts"
import { stopping } from "../transport/Failures.ts"
import { CurrentPlace, InFlight } from "../transport/InFlight.ts"
import { minUnreadBytes, Shares } from "../transport/limits/Shares.ts"

/** How long a client has to take the end of a stream before its connection is reset, in milliseconds. */
const endMillis = 500

/** A request that lasts. */
export interface OpenStream {
  /** Ends the count of the request; also runs when the response is closed. */
  readonly close: () => void
  /** Ends the connection unless the client soon takes the end of the response. */
  readonly expectEnd: () => void
  /** Counts bytes that the client has yet to take in the share of its key, instead of those before; waits for room. */
  readonly hold: (bytes: number) => Effect.Effect<void>
}

/**
 * The streams and waiting requests of this process. They are counted in the shares of their keys instead of the requests in
 * flight, and end when the service begins to drain.
 */
export class Streams extends Context.Service<
  Streams,
  {
    /** Makes the current request one that lasts; `end` runs when it has to end. */
    readonly open: (end: () => void) => Effect.Effect<OpenStream, never, HttpServerRequest.HttpServerRequest>
  }
>()("waypost/http/streams/Streams") {
  static readonly layer = Layer.effect(
    Streams,
    Effect.gen(function* () {
      const shares = yield* Shares
      const { isDraining, onDraining } = yield* InFlight
      const open = new Set<() => void>()
      onDraining(() => open.forEach((end) => end()))

      return Streams.of({
        open: Effect.fnUntraced(function* (end) {
          const [share, place] = [yield* CurrentShare, yield* CurrentPlace]
          if (isDraining()) return yield* Effect.die(stopping)
          if (!shares.take(share, "streams"))
            return yield* Effect.die(shares.exceeds(share, "streams") ? tooMany : tooManyInProcess)
          place.leave()
          place.leaveShare()
          place.lastsSince = yield* Clock.monotonicTimeNanos
          const response = nodeResponseOf(yield* HttpServerRequest.HttpServerRequest)
          const expectEnd = () => void setTimeout(() => response?.writableFinished || response?.destroy(), endMillis)
          const onDrain = () => {
            end()
            expectEnd()
          }
          open.add(onDrain)
          let held = 0
          const drop = () => {
            shares.release(share, "unreadBytes", held)
            held = 0
          }
          const close = () => {
            if (!open.delete(onDrain)) return
            drop()
            shares.release(share, "streams")
          }
          // The response of a client that has hung up has no further event.
          if (response?.destroyed === true) close()
          else response?.once("close", close)
          const take = (bytes: number): Effect.Effect<void> =>
            Effect.suspend(() => {
              if (!open.has(onDrain)) return Effect.void
              if (!shares.take(share, "unreadBytes", bytes))
                return Effect.andThen(Effect.sleep("50 millis"), take(bytes))
              held = bytes
              return Effect.void
            })
          const hold = (bytes: number) =>
            Effect.suspend(() => {
              drop()
              return bytes < minUnreadBytes ? Effect.void : take(bytes)
            })
          return { close, expectEnd, hold }
        })
      })
    })
  )
}

/** The response of Node; there is none without a socket. */
export const nodeResponseOf = (request: HttpServerRequest.HttpServerRequest) =>
  request.source instanceof IncomingMessage ? NodeHttpServerRequest.toServerResponse(request) : undefined

const tooMany = RateLimitExceededError.retryIn(
  "This key has as many streams as its share allows; end one, or try again",
  5
)

const tooManyInProcess = RateLimitExceededError.retryIn(
  "The service has as many streams of all keys as it can; try again",
  5
)
