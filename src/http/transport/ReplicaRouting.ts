import { Context, Effect, Exit, type Types } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { CurrentApiKey } from "../../api/Authorization.ts"
import { ReadsPrimary } from "../../api/Limits.ts"
import { isWalPosition, type WalPosition, walPositionAfter, positionHeader } from "../../domain/query/WalPosition.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { OwnWrites } from "../../sql/connections/OwnWrites.ts"
import { CurrentReplica } from "../../sql/connections/ReplicaReads.ts"
import * as AuditLog from "./AuditLog.ts"

type Respond = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, CurrentApiKey>

const setPosition = (position: WalPosition) => HttpServerResponse.setHeader(positionHeader, position)

const malformedPosition = Effect.die(
  InvalidRequestError.at("header", positionHeader, "invalidFormat", "Expected a position such as 16/B374D848")
)

/** Whether a request names the time of a read of the past. A replica that is behind may lack changes before it. */
const readsPast = (url: string) => new URLSearchParams(url.split("?")[1]).has("at")

/**
 * Has a replica answer a read if one has replayed the last write of the key and the position that the request names. Answers
 * of replicas and to writes say from which position they are.
 */
export const make = Effect.map(OwnWrites, ({ hasReplicas, note, replicaFor }) => {
  /** Also notes a write that failed and may be committed: the key may have to read it. */
  const afterWrite = (respond: Respond, key: string) =>
    respond.pipe(
      Effect.onExit((exit) =>
        Exit.isFailure(exit) && AuditLog.isUnknown(exit.cause) ? Effect.asVoid(note(key)) : Effect.void
      ),
      Effect.flatMap((response) =>
        Effect.map(note(key), (position) => (position === undefined ? response : setPosition(position)(response)))
      )
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
