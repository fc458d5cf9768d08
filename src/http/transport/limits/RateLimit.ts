import { Duration, Effect } from "effect"
import { RateLimiter } from "effect/persistence"
import type { CallingKey } from "../../../domain/keys/ApiKey.ts"
import { RateLimitExceededError } from "../../../domain/write/RequestErrors.ts"
import { Settings } from "../../../settings/Config.ts"
import { appendHeaders } from "../ResponseHeaders.ts"

/** Limits the requests of each key with a token bucket, if configured. */
export const make = Effect.gen(function* () {
  const { RATE_LIMIT_PER_SECOND: limit } = yield* Settings
  if (limit === 0) return () => Effect.void
  const limiter = yield* RateLimiter.RateLimiter
  const policy = `"default";q=${limit};w=1`
  const headers = (remaining: number, resetAfter: Duration.Duration) => ({
    "ratelimit-policy": policy,
    ratelimit: `"default";r=${Math.max(0, Math.floor(remaining))};t=${Math.ceil(Duration.toSeconds(resetAfter))}`
  })
  return Effect.fnUntraced(function* ({ uuid }: CallingKey) {
    const { remaining, resetAfter } = yield* limiter
      .consume({
        key: uuid,
        limit,
        window: "1 second",
        algorithm: "token-bucket",
        onExceeded: "fail"
      })
      .pipe(
        Effect.catchReasons(
          "RateLimiterError",
          {
            RateLimitExceeded: ({ retryAfter }) => {
              const seconds = Math.max(1, Math.ceil(Duration.toSeconds(retryAfter)))
              const message = `This key may make ${limit} requests a second; try again`
              return Effect.andThen(
                appendHeaders({ ...headers(0, retryAfter), "retry-after": String(seconds) }),
                Effect.fail(RateLimitExceededError.retryIn(message, seconds))
              )
            }
          },
          Effect.die
        )
      )
    yield* appendHeaders(headers(remaining, resetAfter))
  })
})
