import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { CurrentApiKey } from "../api/Authorization.ts"
import { Uploads } from "../services/Uploads.ts"
import * as Envelope from "./Envelope.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "uploads",
  Effect.fnUntraced(function* (handlers) {
    const uploads = yield* Uploads
    return handlers.handleAll({
      initialize: ({ payload }) => Effect.flatMap(CurrentApiKey, ({ uuid }) => uploads.initialize(payload, uuid)),
      complete: ({ payload }) => Effect.flatMap(CurrentApiKey, ({ uuid }) => uploads.complete(payload, uuid)),
      get: ({ params }) => Effect.flatMap(CurrentApiKey, ({ uuid }) => uploads.get(params.uuid, uuid)),
      renewParts: ({ params, payload }) =>
        Effect.flatMap(CurrentApiKey, ({ uuid }) => uploads.renewParts(params.uuid, payload.partNumbers, uuid)).pipe(
          Effect.map((parts) => ({ parts }))
        ),
      abort: ({ params }) =>
        Effect.flatMap(CurrentApiKey, ({ uuid }) => uploads.abort(params.uuid, uuid)).pipe(Envelope.written)
    })
  })
)
