import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { AssetNotFoundError } from "../../domain/assets/Asset.ts"
import { passing } from "../../domain/assets/metaTags/AssetMetaTag.ts"
import { Assets } from "../../repositories/assets/Assets.ts"
import { AssetSearch } from "../../repositories/assets/AssetSearch.ts"
import { Restoring } from "../../repositories/changes/Restoring.ts"
import { lastingTag } from "../../sql/EntityTag.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./reads/Delta.ts"
import * as Get from "./reads/Get.ts"
import * as History from "./reads/History.ts"
import * as Restore from "./writes/Restore.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "assets",
  Effect.fnUntraced(function* (handlers) {
    const assets = yield* Assets
    const search = yield* AssetSearch
    const historyOf = yield* History.make
    const getOf = yield* Get.make
    const restoring = yield* Restoring
    const deltaOf = yield* Delta.make
    const bulkOf = yield* Bulk.make
    return handlers.handleAll({
      bulk: bulkOf("assets"),
      delta: deltaOf("asset"),
      list: ({ query }) => Envelope.page(assets.list(query)),
      create: ({ payload }) => Envelope.written(assets.create(payload)),
      search: ({ query }) => Envelope.page(search.search(query)),
      listMetaTags: ({ query }) => Envelope.one(search.metaTags(query)),
      restore: ({ params, payload, request }) =>
        Restore.restored(restoring.assets, { ...params, ...payload, request, read: assets.get(params.uuid) }),
      history: historyOf("asset", AssetNotFoundError.of),
      get: getOf("assets", assets),
      update: ({ params, payload, request }) =>
        Envelope.written(assets.update(params.uuid, payload, Envelope.ifMatch(request))),
      delete: ({ params, query, request }) =>
        Envelope.written(assets.delete(params.uuid, query.force === true, Envelope.ifMatch(request))),
      getMetaTags: ({ params, query }) =>
        Envelope.one(assets.metaTags(params.uuid, query.locale), undefined, lastingTag(passing)),
      updateMetaTags: ({ params, payload, request }) =>
        Envelope.written(assets.updateMetaTags(params.uuid, payload.metaTags, Envelope.ifMatch(request)))
    })
  })
)
