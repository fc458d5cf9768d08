import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { defaultRole } from "../../domain/people/User.ts"
import * as UserRoles from "./writes/UserRoles.ts"
import { Users } from "../../repositories/people/Users.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Included from "./reads/Included.ts"
import * as RecordHandlers from "./RecordHandlers.ts"
import * as RelationHandlers from "./RelationHandlers.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"
import { demand } from "../transport/Authorization.ts"

export const layer = HandlerGroup.group(
  Api,
  "users",
  Effect.fnUntraced(function* (handlers) {
    const users = yield* Users
    const permissionFor = yield* UserRoles.make
    const record = yield* RecordHandlers.make
    const relation = yield* RelationHandlers.make
    return handlers.handleAll({
      ...record("users", users),
      list: ({ query }) => Envelope.page(Included.permitted(query, users.list(query))),
      create: ({ payload }) =>
        demand(
          payload.locations && "update:locations",
          payload.groups && "update:groups",
          permissionFor(payload.role, defaultRole)
        ).pipe(Effect.andThen(users.create(payload)), Envelope.written),
      update: ({ params, payload, request }) =>
        demand(permissionFor(payload.role)).pipe(
          Effect.andThen(users.update(params.uuid, payload, Envelope.ifMatch(request))),
          Envelope.written
        ),
      delete: ({ params, query, request }) =>
        query.erase === true
          ? Effect.andThen(
              demand("delete:events"),
              Envelope.written(users.deleteAndErase(params.uuid, Envelope.ifMatch(request)))
            )
          : Envelope.written(users.delete(params.uuid, Envelope.ifMatch(request))),
      erase: ({ params, request }) => Envelope.written(users.erase(params.uuid, Envelope.ifMatch(request))),
      recordLogin: ({ params, payload, request }) =>
        Envelope.written(users.recordLogin(params.uuid, payload, Envelope.ifMatch(request))),
      ...relation("users", "locations"),
      ...relation("users", "groups")
    })
  })
)
