import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { defaultRole, UserNotFoundError } from "../../domain/people/User.ts"
import * as UserRoles from "./writes/UserRoles.ts"
import { Memberships } from "../../repositories/people/Memberships.ts"
import { Users } from "../../repositories/people/Users.ts"
import { Restoring } from "../../repositories/changes/Restoring.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./reads/Delta.ts"
import * as Get from "./reads/Get.ts"
import * as Included from "./reads/Included.ts"
import * as History from "./reads/History.ts"
import * as Restore from "./writes/Restore.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"
import { demand } from "../transport/Authorization.ts"

export const layer = HandlerGroup.group(
  Api,
  "users",
  Effect.fnUntraced(function* (handlers) {
    const users = yield* Users
    const memberships = yield* Memberships
    const permissionFor = yield* UserRoles.make
    const historyOf = yield* History.make
    const getOf = yield* Get.make
    const restoring = yield* Restoring
    const deltaOf = yield* Delta.make
    const bulkOf = yield* Bulk.make
    return handlers.handleAll({
      bulk: bulkOf("users"),
      delta: deltaOf("user"),
      list: ({ query }) => Envelope.page(Included.permitted(query, users.list(query))),
      create: ({ payload }) =>
        demand(
          payload.locations && "update:locations",
          payload.groups && "update:groups",
          permissionFor(payload.role, defaultRole)
        ).pipe(Effect.andThen(users.create(payload)), Envelope.written),
      restore: ({ params, payload, request }) =>
        Restore.restored(restoring.users, { ...params, ...payload, request, read: users.get(params.uuid) }),
      history: historyOf("user", UserNotFoundError.of),
      get: getOf("users", users),
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
      listLocations: ({ params, query }) =>
        Envelope.page(Included.permitted(query, memberships.list("users", params.uuid, "locations", query))),
      updateLocations: ({ params, payload, request }) =>
        Envelope.written(
          memberships.replace("users", params.uuid, "locations", payload.locations, Envelope.ifMatch(request))
        ),
      listGroups: ({ params, query }) =>
        Envelope.page(Included.permitted(query, memberships.list("users", params.uuid, "groups", query))),
      updateGroups: ({ params, payload, request }) =>
        Envelope.written(memberships.replace("users", params.uuid, "groups", payload.groups, Envelope.ifMatch(request)))
    })
  })
)
