import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { passing } from "../../domain/assets/metaTags/AssetMetaTag.ts"
import { Assets } from "../../repositories/assets/Assets.ts"
import { AssetSearch } from "../../repositories/assets/AssetSearch.ts"
import { lastingTag } from "../../sql/EntityTag.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as RecordHandlers from "./RecordHandlers.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "assets",
  Effect.fnUntraced(function* (handlers) {
    const assets = yield* Assets
    const search = yield* AssetSearch
    const record = yield* RecordHandlers.make
    return handlers.handleAll({
      ...record("assets", assets),
      list: ({ query }) => Envelope.page(assets.list(query)),
      create: ({ payload }) => Envelope.written(assets.create(payload)),
      search: ({ query }) => Envelope.page(search.search(query)),
      listMetaTags: ({ query }) => Envelope.one(search.metaTags(query)),
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
