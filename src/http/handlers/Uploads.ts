import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { encodedOf } from "../../domain/schema/Encoded.ts"
import { Upload, type UploadId } from "../../domain/assets/Upload.ts"
import { checkPrecondition } from "../../sql/EntityTag.ts"
import { Uploads } from "../../services/Uploads.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

const encode = Schema.encodeEffect(Schema.toCodecJson(Upload))

export const layer = HandlerGroup.group(
  Api,
  "uploads",
  Effect.fnUntraced(function* (handlers) {
    const uploads = yield* Uploads
    const mine = <A, E>(use: (key: CurrentApiKey["Service"]["uuid"]) => Effect.Effect<A, E>) =>
      Effect.flatMap(CurrentApiKey, ({ uuid }) => use(uuid))
    const get = (uuid: UploadId) =>
      Effect.flatMap(
        mine((key) => uploads.get(uuid, key)),
        (upload) => Effect.map(Effect.orDie(encode(upload)), encodedOf<Upload>)
      )
    const unchanged = Effect.fnUntraced(function* (uuid: UploadId, request: HttpServerRequest.HttpServerRequest) {
      const precondition = Envelope.ifMatch(request)
      if (precondition !== undefined) yield* checkPrecondition(precondition, yield* get(uuid), "upload")
    })
    return handlers.handleAll({
      initialize: ({ payload }) =>
        Envelope.writtenAnswer(Effect.flatMap(CurrentApiKey, (key) => uploads.initialize(payload, key))),
      complete: ({ payload }) => Envelope.writtenAnswer(mine((key) => uploads.complete(payload, key))),
      get: ({ params }) => Envelope.one(get(params.uuid)),
      renewParts: ({ params, payload, request }) =>
        Effect.andThen(
          unchanged(params.uuid, request),
          mine((key) => uploads.renewParts(params.uuid, payload.partNumbers, key))
        ).pipe(Envelope.writtenAnswer),
      abort: ({ params, request }) =>
        Effect.andThen(
          unchanged(params.uuid, request),
          mine((key) => uploads.abort(params.uuid, key))
        ).pipe(Envelope.written)
    })
  })
)
