import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { MetaTags } from "../../repositories/assets/MetaTags.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as RecordHandlers from "./RecordHandlers.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "metaTags",
  Effect.fnUntraced(function* (handlers) {
    const metaTags = yield* MetaTags
    const record = yield* RecordHandlers.make
    return handlers.handleAll({
      ...record("metaTags", metaTags),
      list: ({ query }) => Envelope.page(metaTags.list(query)),
      create: ({ payload }) => Envelope.written(metaTags.create(payload)),
      update: ({ params, payload, request }) =>
        Envelope.written(metaTags.update(params.uuid, payload, Envelope.ifMatch(request))),
      delete: ({ params, request }) => Envelope.written(metaTags.delete(params.uuid, Envelope.ifMatch(request)))
    })
  })
)
