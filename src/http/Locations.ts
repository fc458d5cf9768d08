import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { Locations, type WrittenLocation } from "../repositories/Locations.ts"
import * as Envelope from "./Envelope.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "locations",
  Effect.fnUntraced(function* (handlers) {
    const locations = yield* Locations
    return handlers.handleAll({
      list: ({ query }) => Envelope.page(locations.list(query)),
      create: ({ payload }) => Effect.flatMap(locations.create(payload), written),
      get: ({ params }) => Envelope.one(locations.get(params.uuid)),
      update: ({ params, payload }) => Effect.flatMap(locations.update(params.uuid, payload), written),
      delete: ({ params }) => Effect.map(locations.delete(params.uuid), (uuid) => ({ uuid }))
    })
  })
)

/** Identifiers that differ only by case are allowed, and almost always a mistake: a header says so. */
const written = ({ similarIdentifier, uuid }: WrittenLocation) =>
  similarIdentifier === undefined
    ? Effect.succeed({ uuid })
    : Effect.as(
        warn(`299 - "Another location has the identifier ${quotable(similarIdentifier)}, which differs only by case"`),
        { uuid }
      )

const quotable = (text: string) => encodeURI(text).replaceAll('"', "%22")

const warn = (warning: string) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "warning", warning))
  )
