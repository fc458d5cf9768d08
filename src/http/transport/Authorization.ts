import { Context, Duration, Effect, Layer, Option, Redacted, type Types } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { RateLimiter } from "effect/persistence"
import { ReadsPrimary, RouteLimits } from "../../api/Limits.ts"
import { Deprecation } from "../../api/openapi/Deprecation.ts"
import { AlternativePermissions, Authorization, CurrentApiKey, RequiredPermissions } from "../../api/Authorization.ts"
import { Settings } from "../../settings/Config.ts"
import { type CallingKey, MissingPermissionsError, requirePermissions } from "../../domain/keys/ApiKey.ts"
import { CurrentChange } from "../../domain/changes/Actor.ts"
import { isWalPosition, type WalPosition, walPositionAfter, positionHeader } from "../../domain/query/WalPosition.ts"
import { InvalidRequestError, RateLimitExceededError } from "../../domain/write/RequestErrors.ts"
import { ApiKeys } from "../../services/ApiKeys.ts"
import { OwnWrites } from "../../sql/connections/OwnWrites.ts"
import { CurrentReplica } from "../../sql/connections/ReplicaReads.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { CurrentShare } from "../../domain/keys/Share.ts"
import { CurrentOperation, CurrentRequestId } from "./AuditLog.ts"
import * as ClientNetwork from "./ClientNetwork.ts"
import { overloaded } from "./Failures.ts"
import { CurrentPlace, InFlight } from "./InFlight.ts"
import * as Metrics from "./Metrics.ts"
import { appendHeaders } from "./ResponseHeaders.ts"
import { Shares } from "./limits/Shares.ts"

/**
 * Checks the key, its permissions, its share and its rate, in this order, before the request is decoded. The permissions
 * are those that the endpoint declares; an endpoint that declares none rejects every key.
 */
export const layer = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const limit = yield* rateLimit
    const shares = yield* Shares
    const locate = yield* located
    const countDeprecated = Metrics.makeDeprecatedCounter()
    const { delayRejection } = yield* InFlight
    const rejectOverload = Effect.flatten(delayRejection(() => Effect.die(overloaded)))
    /** The request has no place, so that rejections never take those of other keys. */
    const rejectOverShare = Effect.andThen(
      appendHeaders({ "retry-after": "1" }),
      Effect.delay(Effect.flatten(delayRejection(() => overShare)), "900 millis")
    )
    return Authorization.of({
      apiKey: Effect.fnUntraced(function* (respond, { credential, endpoint, group }) {
        const place = yield* CurrentPlace
        // A burst of requests that waits for the lookup of its key takes no places.
        place.leave()
        const request = yield* HttpServerRequest.HttpServerRequest
        const client = ClientNetwork.of(request)
        const key = yield* keys.authenticate(Redacted.value(credential), client)
        const operation = `${group.identifier}.${endpoint.identifier}`
        if (Option.isSome(Context.getOption(endpoint.annotations, Deprecation))) {
          yield* countDeprecated(operation, key.uuid)
        }
        const required = Context.getOrUndefined(endpoint.annotations, RequiredPermissions)
        if (required === undefined) return yield* MissingPermissionsError.of([], ["(undeclared)"])
        yield* requirePermissions(key.permissions, required)
        const some = Context.getOrUndefined(endpoint.annotations, AlternativePermissions)
        if (some !== undefined && !some.some((permission) => key.permissions.has(permission)))
          return yield* MissingPermissionsError.of(some, some)
        const share = shares.of(key.share)
        place.share = share
        if (!place.enter()) return yield* rejectOverload
        const counted = countedIn(endpoint)
        const taken = counted.findIndex((resource) => !shares.take(share, resource))
        if (taken !== -1) {
          for (const resource of counted.slice(0, taken)) shares.release(share, resource)
          place.leave()
          return yield* rejectOverShare
        }
        place.leaveShare = () => {
          place.leaveShare = () => undefined
          for (const resource of counted) shares.release(share, resource)
        }
        const services = Context.make(CurrentApiKey, key).pipe(
          Context.add(CurrentShare, share),
          Context.add(CurrentOperation, operation),
          Context.add(CurrentChange, { actor: { type: "apiKey", uuid: key.uuid, requestId: yield* CurrentRequestId } })
        )
        return yield* Effect.ensuring(
          Effect.provideContext(
            Effect.andThen(
              Effect.andThen(shares.turn(share), limit(key)),
              locate(respond, key.uuid, request, endpoint, group)
            ),
            services
          ),
          Effect.sync(() => place.leaveShare())
        )
      })
    })
  })
)

type Respond = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, CurrentApiKey>

const setPosition = (position: WalPosition) => HttpServerResponse.setHeader(positionHeader, position)

const malformedPosition = Effect.die(
  InvalidRequestError.of([
    { in: "header", path: positionHeader, code: "invalidFormat", message: "Expected a position such as 16/B374D848" }
  ])
)

/** Whether a request names the time of a read of the past. A replica that is behind may lack changes before it. */
const readsPast = (url: string) => new URLSearchParams(url.split("?")[1]).has("at")

/**
 * Has a replica answer a read if one has replayed the last write of the key and the position that the request names. Answers
 * of replicas and to writes say from which position they are.
 */
const located = Effect.map(OwnWrites, ({ hasReplicas, note, replicaFor }) => {
  const afterWrite = (respond: Respond, key: string) =>
    Effect.flatMap(respond, (response) =>
      Effect.map(note(key), (position) => (position === undefined ? response : setPosition(position)(response)))
    )
  const ofRead = (respond: Respond, key: string, named: WalPosition | undefined) => {
    const chosen = replicaFor(key, named)
    if (chosen === undefined) return respond
    const { position, replica } = chosen
    return Effect.map(Effect.provideService(respond, CurrentReplica, replica), setPosition(walPositionAfter(position)))
  }
  return (
    respond: Respond,
    key: string,
    { headers, url }: HttpServerRequest.HttpServerRequest,
    { annotations, method }: HttpApiEndpoint.Top,
    group: HttpApiGroup.Top
  ) => {
    if (!hasReplicas) return respond
    if (method !== "GET") return afterWrite(respond, key)
    const named = headers[positionHeader]
    if (named !== undefined && !isWalPosition(named)) return malformedPosition
    const isOfPrimary = Context.get(annotations, ReadsPrimary) || Context.get(group.annotations, ReadsPrimary)
    return isOfPrimary || readsPast(url) ? respond : ofRead(respond, key, named)
  }
})

const requestsOnly = ["requests"] as const
const requestsAndBulk = ["requests", "bulk"] as const

/** The shares in which a request to an endpoint counts. */
const countedIn = ({ annotations }: HttpApiEndpoint.Top) =>
  Context.getOrUndefined(annotations, RouteLimits)?.share === "bulk" ? requestsAndBulk : requestsOnly

/** Checks permissions that a request needs for some of its members, in addition to those of its endpoint. */
export const demand = (...required: ReadonlyArray<Permission | undefined>) =>
  Effect.flatMap(CurrentApiKey, ({ permissions }) =>
    requirePermissions(
      permissions,
      required.filter((permission) => permission !== undefined)
    )
  )

const overShare = Effect.fail(
  new RateLimitExceededError({
    message: "This key has as many requests in flight as its share allows; try again in 1 s",
    retryAfterSeconds: 1
  })
)

/** Limits the requests of each key with a token bucket, if configured. */
const rateLimit = Effect.gen(function* () {
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
              const retryAfterSeconds = Math.max(1, Math.ceil(Duration.toSeconds(retryAfter)))
              const message = `This key may make ${limit} requests a second; try again in ${retryAfterSeconds} s`
              return Effect.andThen(
                appendHeaders({ ...headers(0, retryAfter), "retry-after": String(retryAfterSeconds) }),
                Effect.fail(new RateLimitExceededError({ message, retryAfterSeconds }))
              )
            }
          },
          Effect.die
        )
      )
    yield* appendHeaders(headers(remaining, resetAfter))
  })
})
