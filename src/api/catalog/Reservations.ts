import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ModuleIncompatibleWithProductTypeError, ModuleNotActiveError } from "../../domain/catalog/ProductModule.ts"
import { ProductNotFoundError } from "../../domain/catalog/Product.ts"
import { ReservationCreate, ReservationId, ReservationNotFoundError } from "../../domain/catalog/Reservation.ts"
import { LocationNotFoundError } from "../../domain/locations/Location.ts"
import { ProductId } from "../../domain/catalog/ProductId.ts"
import { requires } from "../Authorization.ts"
import { describe, group, operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"

/** The reservations of products; the reservations module of a product lists them. */
export class ReservationsApi extends HttpApiGroup.make("reservations")
  .add(
    HttpApiEndpoint.post("create", "/:uuid/reservations", {
      params: { uuid: ProductId },
      payload: ReservationCreate,
      success: Envelope.Created(ReservationId),
      error: [ProductNotFoundError, LocationNotFoundError, ModuleNotActiveError, ModuleIncompatibleWithProductTypeError]
    }).pipe(
      requires("update:products", "read:locations"),
      describe(
        "Create a new reservation",
        "Reserves copies of the product for a location. The period follows the rules of the reservations module; of concurrent requests for the last copy one succeeds."
      )
    ),
    HttpApiEndpoint.post("cancel", "/:uuid/reservations/:reservationUuid/cancel", {
      params: {
        uuid: ProductId,
        reservationUuid: ReservationId.pipe(Schema.annotateEncoded({ description: "The uuid of the reservation." }))
      },
      success: Envelope.Written(ReservationId),
      error: [ProductNotFoundError, ReservationNotFoundError]
    }).pipe(
      operation("update:products", "Cancel a reservation", "Removes the reservation; its copies are free at once.")
    )
  )
  .prefix("/v1/products")
  .annotateMerge(group("Reservations", "Which location has a product, and when.")) {}
