import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { MetaTagNotFoundError } from "../../domain/assets/metaTags/MetaTag.ts"
import { MetaTags } from "../../repositories/assets/MetaTags.ts"
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
  "metaTags",
  Effect.fnUntraced(function* (handlers) {
    const metaTags = yield* MetaTags
    const historyOf = yield* History.make
    const getOf = yield* Get.make
    const restoring = yield* Restoring
    const deltaOf = yield* Delta.make
    const bulkOf = yield* Bulk.make
    return handlers.handleAll({
      bulk: bulkOf("metaTags"),
      delta: deltaOf("metaTag"),
      list: ({ query }) => Envelope.page(metaTags.list(query)),
      create: ({ payload }) => Envelope.written(metaTags.create(payload)),
      restore: ({ params, payload, request }) =>
        Restore.restored(restoring.metaTags, { ...params, ...payload, request, read: metaTags.get(params.uuid) }),
      history: historyOf("metaTag", MetaTagNotFoundError.of),
      get: getOf("metaTags", metaTags),
      update: ({ params, payload, request }) =>
        Envelope.written(metaTags.update(params.uuid, payload, Envelope.ifMatch(request))),
      delete: ({ params, request }) => Envelope.written(metaTags.delete(params.uuid, Envelope.ifMatch(request)))
    })
  })
)
