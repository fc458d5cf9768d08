import { Cause, Effect, Exit } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { CallingKey } from "../../domain/keys/ApiKey.ts"
import { mayHaveCommitted } from "../../sql/SqlErrors.ts"

const decoder = new TextDecoder()

/** What was made: every creation answers with its uuid first, and a completed upload with that of its file. */
const created = /^\{"_tag":"Success","data":\{"(?:uuid|fileUuid)":"([0-9a-f-]{36})"/

const createdIn = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" ? created.exec(decoder.decode(body.body.subarray(0, 100)))?.[1] : undefined

/** Nothing is written before all of the request is there. */
const isWhole = ({ source }: HttpServerRequest.HttpServerRequest) => !("complete" in source) || source.complete === true

/** The client hung up, the time was over or the connection broke: the database may have committed all the same. */
const isUnknown = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterrupts(cause) || cause.reasons.some((reason) => reason._tag === "Die" && mayHaveCommitted(reason.defect))

/**
 * Has the log tell, in one line, that a write was done: which operation, on which record and with which key; the request id
 * is in every line. One whose outcome nobody knows is told as that. What was written is not told, because a log is kept
 * longer and read by more people than a record.
 */
export const auditLog = <E, R>(
  { endpoint, group }: { readonly endpoint: HttpApiEndpoint.Top; readonly group: HttpApiGroup.Top },
  { uuid: key }: CallingKey,
  respond: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E,
  R | HttpRouter.RouteContext | HttpServerRequest.HttpServerRequest
> => {
  if (endpoint.method === "GET") return respond
  const operation = `${group.identifier}.${endpoint.identifier}`
  const tell = (message: string, made?: string) =>
    Effect.flatMap(HttpRouter.RouteContext, ({ params }) =>
      Effect.annotateLogs(Effect.logInfo(message), { operation, record: params["uuid"]?.toLowerCase() ?? made, key })
    )
  const tellIfWhole = () =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      isWhole(request) ? tell("Perhaps written") : Effect.void
    )
  return Effect.onExit(respond, (exit) => {
    if (Exit.isFailure(exit)) return isUnknown(exit.cause) ? tellIfWhole() : Effect.void
    return exit.value.status < 300 ? tell("Written", createdIn(exit.value)) : Effect.void
  })
}
