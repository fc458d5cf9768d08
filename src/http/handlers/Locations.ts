import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { LocationMedia } from "../../repositories/locations/LocationMedia.ts"
import { Locations, type WrittenLocation } from "../../repositories/locations/Locations.ts"
import { Territories } from "../../repositories/locations/Territories.ts"
import { Memberships } from "../../repositories/people/Memberships.ts"
import { Restoring } from "../../repositories/changes/Restoring.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./reads/Delta.ts"
import * as Get from "./reads/Get.ts"
import * as Included from "./reads/Included.ts"
import * as History from "./reads/History.ts"
import * as Restore from "./writes/Restore.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "locations",
  Effect.fnUntraced(function* (handlers) {
    const locations = yield* Locations
    const media = yield* LocationMedia
    const memberships = yield* Memberships
    const territories = yield* Territories
    const historyOf = yield* History.make
    const getOf = yield* Get.make
    const restoring = yield* Restoring
    const deltaOf = yield* Delta.make
    const bulkOf = yield* Bulk.make
    return handlers.handleAll({
      bulk: bulkOf("locations"),
      delta: deltaOf("location"),
      list: ({ query }) => Envelope.page(Included.permitted(query, locations.list(query))),
      resolve: ({ query }) => Envelope.one(territories.resolve(query)),
      territories: ({ query }) => Envelope.page(territories.list(query)),
      create: ({ payload }) => written(locations.create(payload)),
      restore: ({ params, payload, request }) =>
        Restore.restored(restoring.locations, { ...params, ...payload, request, read: locations.get(params.uuid) }),
      history: historyOf("location", LocationNotFoundError.of),
      get: getOf("locations", locations),
      update: ({ params, payload, request }) =>
        written(locations.update(params.uuid, payload, Envelope.ifMatch(request))),
      delete: ({ params, request }) => Envelope.written(locations.delete(params.uuid, Envelope.ifMatch(request))),
      eraseHistory: ({ params, payload, request }) =>
        Envelope.written(locations.eraseHistory(params.uuid, payload.paths, Envelope.ifMatch(request))),
      updateMedia: ({ params, payload, request }) =>
        Envelope.written(media.replace(params.uuid, payload, Envelope.ifMatch(request))),
      updateTranslationLabels: ({ params, payload, request }) =>
        Envelope.written(media.replaceLabels(params.uuid, payload.translationLabels, Envelope.ifMatch(request))),
      listUsers: ({ params, query }) =>
        Envelope.page(Included.permitted(query, memberships.list("locations", params.uuid, "users", query))),
      updateUsers: ({ params, payload, request }) =>
        Envelope.written(
          memberships.replace("locations", params.uuid, "users", payload.users, Envelope.ifMatch(request))
        ),
      listGroups: ({ params, query }) =>
        Envelope.page(Included.permitted(query, memberships.list("locations", params.uuid, "groups", query))),
      updateGroups: ({ params, payload, request }) =>
        Envelope.written(
          memberships.replace("locations", params.uuid, "groups", payload.groups, Envelope.ifMatch(request))
        )
    })
  })
)

/** Identifiers that differ only by case are allowed, and almost always a mistake: a header says so. */
const written = <E>(write: Effect.Effect<WrittenLocation, E>) =>
  Envelope.written(
    Effect.tap(write, ({ similarIdentifier: similar }) =>
      similar === undefined
        ? Effect.void
        : Envelope.warn(`Another location has the identifier ${quotable(similar)}, which differs only by case`)
    )
  )

const quotable = (text: string) => encodeURI(text).replaceAll('"', "%22")
