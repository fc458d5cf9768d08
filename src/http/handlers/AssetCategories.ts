import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { AssetCategoryNotFoundError } from "../../domain/assets/AssetCategory.ts"
import { AssetCategories } from "../../repositories/assets/AssetCategories.ts"
import { Restoring } from "../../repositories/changes/Restoring.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./reads/Delta.ts"
import * as Get from "./reads/Get.ts"
import * as History from "./reads/History.ts"
import * as Restore from "./writes/Restore.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "assetCategories",
  Effect.fnUntraced(function* (handlers) {
    const categories = yield* AssetCategories
    const historyOf = yield* History.make
    const getOf = yield* Get.make
    const restoring = yield* Restoring
    const deltaOf = yield* Delta.make
    const bulkOf = yield* Bulk.make
    return handlers.handleAll({
      bulk: bulkOf("assetCategories"),
      delta: deltaOf("assetCategory"),
      list: ({ query }) => Envelope.page(categories.list(query)),
      create: ({ payload }) => Envelope.written(categories.create(payload)),
      restore: ({ params, payload, request }) =>
        Restore.restored(restoring.assetCategories, {
          ...params,
          ...payload,
          request,
          read: categories.get(params.uuid)
        }),
      history: historyOf("assetCategory", AssetCategoryNotFoundError.of),
      get: getOf("assetCategories", categories),
      update: ({ params, payload, request }) =>
        Envelope.written(categories.update(params.uuid, payload, Envelope.ifMatch(request))),
      delete: ({ params, request }) => Envelope.written(categories.delete(params.uuid, Envelope.ifMatch(request)))
    })
  })
)
