import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { passing } from "../../domain/changes/Webhook.ts"
import { Replays } from "../../services/webhooks/Replays.ts"
import { Webhooks } from "../../services/webhooks/Webhooks.ts"
import { lastingTag } from "../../sql/EntityTag.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    const replays = yield* Replays
    return handlers.handleAll({
      list: ({ query }) => Envelope.page(webhooks.list(query)),
      create: ({ payload }) =>
        Envelope.writtenAnswer(Effect.flatMap(CurrentApiKey, (key) => webhooks.create(payload, key))),
      get: ({ params, query }) => Envelope.one(webhooks.get(params.uuid, query), query, lastingTag(passing)),
      update: ({ params, payload, request }) =>
        Envelope.written(
          Effect.flatMap(CurrentApiKey, (key) => webhooks.update(params.uuid, payload, Envelope.ifMatch(request), key))
        ),
      delete: ({ params, request }) => Envelope.written(webhooks.delete(params.uuid, Envelope.ifMatch(request))),
      rotateSecret: ({ params, payload, request }) =>
        Envelope.writtenAnswer(
          Effect.flatMap(CurrentApiKey, (key) =>
            webhooks.rotateSecret(params.uuid, payload, Envelope.ifMatch(request), key)
          )
        ),
      test: ({ params, request }) =>
        Effect.flatMap(CurrentApiKey, (key) => replays.test(params.uuid, Envelope.ifMatch(request), key)),
      deliveries: ({ params, query: { limit = 50, ...query } }) =>
        Envelope.cursorPage(replays.deliveries(params.uuid, { ...query, limit })),
      replay: ({ params, payload, request }) =>
        Envelope.writtenAnswer(
          Effect.flatMap(CurrentApiKey, (key) => replays.replay(params.uuid, payload, Envelope.ifMatch(request), key))
        )
    })
  })
)
