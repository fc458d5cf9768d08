import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import type { PartialGroup } from "../../domain/people/Group.ts"
import { Groups } from "../../repositories/people/Groups.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Included from "./reads/Included.ts"
import * as RecordHandlers from "./RecordHandlers.ts"
import * as RelationHandlers from "./RelationHandlers.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"
import { demand } from "../transport/Authorization.ts"

export const layer = HandlerGroup.group(
  Api,
  "groups",
  Effect.fnUntraced(function* (handlers) {
    const groups = yield* Groups
    const record = yield* RecordHandlers.make
    const relation = yield* RelationHandlers.make
    return handlers.handleAll({
      ...record("groups", groups),
      list: ({ query }) => Envelope.page(Included.permitted(query, groups.list(query))),
      create: ({ payload }) => demandFor(payload).pipe(Effect.andThen(groups.create(payload)), Envelope.written),
      update: ({ params, payload, request }) =>
        demandFor(payload).pipe(
          Effect.andThen(groups.update(params.uuid, payload, Envelope.ifMatch(request))),
          Envelope.written
        ),
      delete: ({ params, request }) => Envelope.written(groups.delete(params.uuid, Envelope.ifMatch(request))),
      ...relation("groups", "users"),
      ...relation("groups", "locations")
    })
  })
)

const demandFor = ({ locations, users }: PartialGroup) =>
  demand(users && "update:users", locations && "update:locations")
