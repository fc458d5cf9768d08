import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { passing } from "../../domain/keys/ApiKey.ts"
import { ApiKeys as Repository } from "../../repositories/keys/ApiKeys.ts"
import { ApiKeys } from "../../services/ApiKeys.ts"
import { lastingTag } from "../../sql/EntityTag.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "apiKeys",
  Effect.fnUntraced(function* (handlers) {
    const repository = yield* Repository
    const keys = yield* ApiKeys
    return handlers.handleAll({
      list: ({ query }) => Envelope.page(repository.list(query)),
      create: ({ payload }) => Envelope.writtenAnswer(Effect.flatMap(CurrentApiKey, (by) => keys.create(payload, by))),
      get: ({ params, query }) => Envelope.one(repository.get(params.uuid, query), query, lastingTag(passing)),
      revoke: ({ params, query, request }) =>
        Envelope.written(
          keys.revoke(params.uuid, Envelope.ifMatch(request), { descendants: query.descendants === true })
        ),
      rotate: ({ params, payload, request }) =>
        Envelope.writtenAnswer(
          Effect.flatMap(CurrentApiKey, (by) => keys.rotate(params.uuid, payload, Envelope.ifMatch(request), by))
        ),
      me: () =>
        Effect.flatMap(CurrentApiKey, ({ uuid }) =>
          Envelope.one(Effect.orDie(repository.get(uuid)), undefined, lastingTag(passing))
        )
    })
  })
)
