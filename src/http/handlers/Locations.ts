import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { LocationMedia } from "../../repositories/locations/LocationMedia.ts"
import { Locations, type WrittenLocation } from "../../repositories/locations/Locations.ts"
import { Territories } from "../../repositories/locations/Territories.ts"
import { Memberships } from "../../repositories/people/Memberships.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Included from "./reads/Included.ts"
import * as RecordHandlers from "./RecordHandlers.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "locations",
  Effect.fnUntraced(function* (handlers) {
    const locations = yield* Locations
    const media = yield* LocationMedia
    const memberships = yield* Memberships
    const territories = yield* Territories
    const record = yield* RecordHandlers.make
    return handlers.handleAll({
      ...record("locations", locations),
      list: ({ query }) => Envelope.page(Included.permitted(query, locations.list(query))),
      resolve: ({ query }) => Envelope.one(territories.resolve(query)),
      territories: ({ query }) => Envelope.page(territories.list(query)),
      create: ({ payload }) => written(locations.create(payload)),
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
