import { Effect } from "effect"
import { HttpRouter, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { CallingKey } from "../domain/ApiKey.ts"

const decoder = new TextDecoder()

/** What was made: every creation answers with its uuid first, and a completed upload with that of its file. */
const created = /^\{"_tag":"Success","data":\{"(?:uuid|fileUuid)":"([0-9a-f-]{36})"/

const createdIn = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" ? created.exec(decoder.decode(body.body.subarray(0, 100)))?.[1] : undefined

/**
 * Has the log tell, in one line, that a write was done: which operation, on which record and with which key; the request id
 * is in every line. What was written is not told, because a log is kept longer and read by more people than a record.
 */
export const tell = Effect.fnUntraced(function* (
  { endpoint, group }: { readonly endpoint: HttpApiEndpoint.Top; readonly group: HttpApiGroup.Top },
  { uuid: key }: CallingKey,
  response: HttpServerResponse.HttpServerResponse
) {
  if (endpoint.method === "GET" || response.status >= 300) return
  const { params } = yield* HttpRouter.RouteContext
  const operation = `${group.identifier}.${endpoint.identifier}`
  yield* Effect.annotateLogs(Effect.logInfo("Written"), {
    operation,
    record: params["uuid"]?.toLowerCase() ?? createdIn(response),
    key
  })
})
