import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { LocationMedia } from "../../repositories/locations/LocationMedia.ts"
import { checked } from "../../repositories/locations/LocationViews.ts"
import { Locations, type WrittenLocation } from "../../repositories/locations/Locations.ts"
import { Territories } from "../../repositories/locations/Territories.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as Included from "./reads/Included.ts"
import * as RecordHandlers from "./RecordHandlers.ts"
import * as RelationHandlers from "./RelationHandlers.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "locations",
  Effect.fnUntraced(function* (handlers) {
    const locations = yield* Locations
    const media = yield* LocationMedia
    const territories = yield* Territories
    const record = yield* RecordHandlers.make
    const relation = yield* RelationHandlers.make
    return handlers.handleAll({
      ...record("locations", locations),
      list: ({ query }) =>
        Envelope.page(Effect.andThen(checked(query), Included.permitted(query, locations.list(query)))),
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
      ...relation("locations", "users"),
      ...relation("locations", "groups")
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
