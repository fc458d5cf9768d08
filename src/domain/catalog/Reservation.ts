import { Schema } from "effect"
import { LocationId } from "../locations/Location.ts"
import { Timestamp, Uuid } from "../schema/Fields.ts"
import { int } from "../schema/WholeNumber.ts"
import { ApiError } from "../write/ApiError.ts"
import { notFound, notFoundError } from "../write/NotFound.ts"

export const ReservationId = Uuid.pipe(Schema.brand("ReservationId"))
export type ReservationId = typeof ReservationId.Type

/** What reserves copies of a product for a location. */
export const ReservationCreate = Schema.Struct({
  locationUuid: LocationId,
  from: Timestamp,
  until: Timestamp,
  quantity: Schema.optionalKey(
    Schema.NullOr(int(1, 1_000_000)).annotate({ default: 1, description: "The number of copies." })
  )
}).annotate({ identifier: "ReservationCreate" })
export type ReservationCreate = typeof ReservationCreate.Type

export class ReservationNotFoundError extends ApiError<ReservationNotFoundError>()(
  ...notFoundError("ReservationNotFoundError")
) {
  static of = (uuid: string) => new ReservationNotFoundError(notFound("reservation", uuid))
}
