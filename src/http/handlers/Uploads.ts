import { Effect, Schema } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import { IfMatch } from "../../domain/query/Precondition.ts"
import { PreconditionFailedError } from "../../domain/write/RequestErrors.ts"
import { Upload, type UploadId } from "../../domain/assets/Upload.ts"
import { entityTag } from "../../sql/EntityTag.ts"
import { Uploads } from "../../services/Uploads.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

const encode = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(Upload)))

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
        (upload) => Effect.orDie(encode(upload)) as Effect.Effect<Encoded<Upload>>
      )
    /** With `If-Match`, the upload must be as far as the client read. */
    const unchanged = Effect.fnUntraced(function* (uuid: UploadId) {
      const tags = yield* IfMatch
      if (tags !== undefined && !tags.includes(entityTag(yield* get(uuid)))) return yield* Effect.die(changedSince)
    })
    return handlers.handleAll({
      initialize: ({ payload }) => mine((key) => uploads.initialize(payload, key)),
      complete: ({ payload }) => mine((key) => uploads.complete(payload, key)),
      get: ({ params }) => Envelope.one(get(params.uuid)),
      renewParts: ({ params, payload }) =>
        Effect.map(
          mine((key) => uploads.renewParts(params.uuid, payload.partNumbers, key)),
          (parts) => ({ parts })
        ),
      abort: ({ params }) =>
        Effect.andThen(
          unchanged(params.uuid),
          mine((key) => uploads.abort(params.uuid, key))
        ).pipe(Envelope.written)
    })
  })
)

const changedSince = new PreconditionFailedError({
  message: "The upload has changed since it was read; read it again and repeat the request with the new ETag"
})
