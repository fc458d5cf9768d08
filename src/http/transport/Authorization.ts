import { Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { RouteLimits } from "../../api/Limits.ts"
import { Deprecation } from "../../api/openapi/Deprecation.ts"
import { AlternativePermissions, Authorization, CurrentApiKey, RequiredPermissions } from "../../api/Authorization.ts"
import { MissingPermissionsError, requirePermissions } from "../../domain/keys/ApiKey.ts"
import { CurrentChange } from "../../domain/changes/Actor.ts"
import { RateLimitExceededError } from "../../domain/write/RequestErrors.ts"
import { ApiKeys } from "../../services/ApiKeys.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import { CurrentShare } from "../../domain/keys/Share.ts"
import * as ClientNetwork from "./ClientNetwork.ts"
import { CurrentOperation, CurrentRequestId } from "./CurrentRequest.ts"
import { overloaded } from "./Failures.ts"
import { CurrentPlace, InFlight } from "./InFlight.ts"
import * as Metrics from "./Metrics.ts"
import * as ReplicaRouting from "./ReplicaRouting.ts"
import { appendHeaders } from "./ResponseHeaders.ts"
import * as BulkPlace from "./limits/BulkPlace.ts"
import * as RateLimit from "./limits/RateLimit.ts"
import { Shares } from "./limits/Shares.ts"
import * as UnreadAnswers from "./limits/UnreadAnswers.ts"

/**
 * Checks the key, its permissions, its share and its rate, in this order, before the request is decoded. The permissions
 * are those that the endpoint declares; an endpoint that declares none rejects every key.
 */
export const layer = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const limit = yield* RateLimit.make
    const shares = yield* Shares
    const routeToReplica = yield* ReplicaRouting.make
    const countDeprecated = Metrics.makeDeprecatedCounter()
    const { delayRejection } = yield* InFlight
    const rejectOverload = Effect.flatten(delayRejection(() => Effect.die(overloaded)))
    /** The request has no place, so that rejections never take those of other keys. */
    const rejectOverShare = (error: RateLimitExceededError) =>
      Effect.andThen(
        appendHeaders({ "retry-after": "1" }),
        Effect.delay(Effect.flatten(delayRejection(() => Effect.fail(error))), "900 millis")
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
          return yield* MissingPermissionsError.ofSome(some)
        const share = shares.of(key.share)
        place.share = share
        if (!place.enter()) return yield* rejectOverload
        const rejection = UnreadAnswers.rejectionOf(shares, request, share)
        if (rejection !== undefined) {
          place.leave()
          return yield* rejectOverShare(rejection)
        }
        const counted = countedIn(endpoint)
        const taken = counted.findIndex((resource) => !shares.take(share, resource))
        if (taken !== -1) {
          for (const resource of counted.slice(0, taken)) shares.release(share, resource)
          place.leave()
          return yield* rejectOverShare(overShare)
        }
        const bulk = counted === requestsAndBulk ? BulkPlace.make(shares, share) : undefined
        place.bulk = bulk
        place.leaveShare = () => {
          place.leaveShare = () => undefined
          bulk?.leave()
          bulk?.hold(0)
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
              routeToReplica(respond, key.uuid, request, endpoint, group)
            ),
            services
          ),
          Effect.sync(() => place.leaveShare())
        )
      })
    })
  })
)

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

const overShare = RateLimitExceededError.retryIn(
  "This key has as many requests in flight as its share allows; try again"
)
