import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { Events } from "../../services/changes/Events.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* Events
    return handlers.handleAll({
      list: ({ query: { limit = 100, order = "asc", ...query } }) =>
        Effect.flatMap(CurrentApiKey, (key) => Envelope.cursorPage(events.page({ ...query, limit, order }, key)))
    })
  })
)
