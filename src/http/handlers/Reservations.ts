import { Effect } from "effect"
import { Api } from "../../api/Api.ts"
import { Reservations } from "../../repositories/catalog/Reservations.ts"
import * as Envelope from "../transport/Envelope.ts"
import * as HandlerGroup from "../transport/HandlerGroup.ts"

export const layer = HandlerGroup.group(
  Api,
  "reservations",
  Effect.fnUntraced(function* (handlers) {
    const reservations = yield* Reservations
    return handlers.handleAll({
      create: ({ params, payload, request }) =>
        Envelope.written(reservations.create(params.uuid, payload, Envelope.ifMatch(request))),
      cancel: ({ params, request }) =>
        Envelope.written(reservations.cancel(params.uuid, params.reservationUuid, Envelope.ifMatch(request)))
    })
  })
)
