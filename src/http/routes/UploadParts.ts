import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { ApiKeyId } from "../../domain/keys/ApiKey.ts"
import { CurrentShare } from "../../domain/keys/Share.ts"
import { RateLimitExceededError, RequestTimeoutError } from "../../domain/write/RequestErrors.ts"
import { ApiKeys } from "../../services/ApiKeys.ts"
import { partPath, PartUploads } from "../../services/PartUploads.ts"
import { withMinRate } from "../streams/MinRate.ts"
import * as Cors from "../transport/Cors.ts"
import { Shares } from "../transport/limits/Shares.ts"
import { TimeLimits } from "../transport/Timeout.ts"
import type { Route } from "../transport/RouteTable.ts"

/** A part takes as long as the client's bandwidth needs. */
export const route = {
  method: "PUT",
  path: partPath,
  limits: { answerMillis: 24 * 3_600_000, hasSlowBody: true, inFlight: "parts" }
} as const satisfies Route

/** How long a part may send no bytes, in milliseconds. */
const idle = 30_000

const stalled = new RequestTimeoutError({
  message: `No bytes of the part arrived for ${idle / 1000} seconds; send the part again`
})

/** What a part must receive on average, in bytes per second. */
const minRate = 1024

const tooSlow = new RequestTimeoutError({
  message: `The part arrived at less than ${minRate / 1024} KiB a second; send it again over a faster connection`
})

const tooMany = RateLimitExceededError.retryIn(
  "This key sends as many parts at once as its share allows; send the part again"
)

const tooManyInProcess = RateLimitExceededError.retryIn(
  "The service receives as many parts of all keys at once as it can; send the part again"
)

/** S3 answers 200 with an empty body and not 204, and clients expect that. */
const empty = { "content-length": "0" }

/**
 * Takes the parts of uploads to the local storage, from any page: the signed URL is the permission. It is not in the
 * contract, because with an S3 store the same request goes to the store.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const parts = yield* PartUploads
    const keys = yield* ApiKeys
    const shares = yield* Shares
    const { bodyRate } = yield* TimeLimits
    const inShare = <A, E>(key: ApiKeyId, work: Effect.Effect<A, E>) =>
      Effect.flatMap(keys.shareOf(key), (id): Effect.Effect<A, E | RateLimitExceededError> => {
        const share = shares.of(id)
        if (!shares.take(share, "parts"))
          return Effect.fail(shares.exceeds(share, "parts") ? tooMany : tooManyInProcess)
        return Effect.ensuring(
          Effect.provideService(work, CurrentShare, share),
          Effect.sync(() => shares.release(share, "parts"))
        )
      })
    yield* router.add("OPTIONS", route.path, Cors.preflight(route.method))
    yield* router.add(route.method, route.path, (request) => {
      const bytes = request.stream.pipe(
        Stream.timeoutOrElse({ duration: idle, orElse: () => Stream.fail(stalled) }),
        withMinRate({ rate: minRate, averagedOver: bodyRate, slow: tooSlow })
      )
      return parts.receive(request.url, Stream.orDie(bytes), inShare).pipe(
        Effect.map((eTag) => HttpServerResponse.empty({ status: 200, headers: { ...empty, etag: `"${eTag}"` } })),
        Effect.orDie,
        Cors.shared
      )
    })
  })
)
