import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { AssetCategories } from "../../repositories/assets/AssetCategories.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as RecordHandlers from "./RecordHandlers.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "assetCategories",
  Effect.fnUntraced(function* (handlers) {
    const categories = yield* AssetCategories
    const record = yield* RecordHandlers.make
    return handlers.handleAll({
      ...record("assetCategories", categories),
      list: ({ query }) => Envelope.page(categories.list(query)),
      create: ({ payload }) => Envelope.written(categories.create(payload)),
      update: ({ params, payload, request }) =>
        Envelope.written(categories.update(params.uuid, payload, Envelope.ifMatch(request))),
      delete: ({ params, request }) => Envelope.written(categories.delete(params.uuid, Envelope.ifMatch(request)))
    })
  })
)
