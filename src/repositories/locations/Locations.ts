import { Context, Effect, Layer } from "effect"
import type { Encoded, EncodedPage } from "../../domain/schema/Encoded.ts"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import {
  DuplicateIdentifierError,
  Location,
  type LocationCreate,
  type LocationId,
  LocationNotFoundError,
  type PartialLocation
} from "../../domain/locations/Location.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { Written } from "../../domain/write/Written.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import type { ListRequest } from "../../sql/Listing.ts"
import { computedOf } from "./LocationMedia.ts"
import { Memberships } from "../people/Memberships.ts"
import { sql } from "../../sql/Fragment.ts"
import * as Records from "../../sql/Records.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"
import { traced } from "../../sql/Traced.ts"

/** A location that was written, and the identifier of another one that differs only by case. */
export interface WrittenLocation extends Written<"locations", LocationId> {
  readonly similarIdentifier: string | undefined
}

/** The locations, in PostgreSQL. */
export class Locations extends Context.Service<
  Locations,
  {
    get(uuid: LocationId): Effect.Effect<Encoded<Location>, LocationNotFoundError>
    list(request: ListRequest): Effect.Effect<EncodedPage<Location>>
    create(
      location: LocationCreate
    ): Effect.Effect<WrittenLocation, DuplicateIdentifierError | InvalidLocaleError | InvalidRequestError>
    update(
      uuid: LocationId,
      patch: PartialLocation,
      precondition: Precondition
    ): Effect.Effect<
      WrittenLocation,
      LocationNotFoundError | DuplicateIdentifierError | InvalidLocaleError | InvalidRequestError
    >
    delete(
      uuid: LocationId,
      precondition: Precondition
    ): Effect.Effect<Written<"locations", LocationId>, LocationNotFoundError>
  }
>()("waypost/repositories/locations/Locations") {
  static readonly layer = Layer.effect(
    Locations,
    Effect.gen(function* () {
      const locales = yield* Locales
      const memberships = yield* Memberships
      const records = yield* Records.make({
        kind: "locations",
        table: "locations",
        computed: computedOf(yield* PublicUrl),
        record: Location,
        notFound: LocationNotFoundError,
        reports: {
          member: "identifier",
          sql: sql`select other.identifier from locations other
          where waypost_fold(other.identifier) = waypost_fold(t.identifier) and other.uuid <> t.uuid limit 1`
        }
      })

      /** The locale in its canonical form, if one is set. */
      const withLocale = Effect.fnUntraced(function* <L extends LocationCreate | PartialLocation>(location: L) {
        return typeof location.locale === "string"
          ? { ...location, locale: yield* locales.check(location.locale) }
          : location
      })

      const constraintErrors = (identifier: string | undefined) =>
        byConstraint({
          locations_identifier_key: () => DuplicateIdentifierError.of(identifier ?? ""),
          locations_coordinates_complete: () => incompleteCoordinates
        })

      const similar = <W>({ returned, ...written }: W & { readonly returned: string | undefined }) => ({
        ...written,
        similarIdentifier: returned
      })

      const create = Effect.fnUntraced(function* (location: LocationCreate) {
        const checked = yield* withLocale(location)
        return similar(yield* records.insert(checked).pipe(constraintErrors(location.identifier)))
      })

      const update = Effect.fnUntraced(function* (
        uuid: LocationId,
        patch: PartialLocation,
        precondition: Precondition
      ) {
        // A location that does not exist, or has changed, is reported before a rule that the request breaks.
        const checked = yield* Effect.tapError(withLocale(patch), () => records.checkPrecondition(uuid, precondition))
        return similar(yield* records.patch(uuid, checked, precondition).pipe(constraintErrors(patch.identifier)))
      })

      const remove = (uuid: LocationId, precondition: Precondition) =>
        memberships.withRelationLock("locations", records.remove(uuid, precondition))

      return traced(Locations, { get: records.get, list: records.list, create, update, delete: remove })
    })
  )
}

const incompleteCoordinates = InvalidRequestError.inBody(
  "coordinates",
  "incomplete",
  "latitude and longitude must both be set or both be absent"
)
