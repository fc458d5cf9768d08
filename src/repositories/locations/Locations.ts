import { Context, Effect, Layer } from "effect"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import {
  DuplicateIdentifierError,
  Location,
  type LocationCreate,
  type LocationId,
  LocationNotFoundError,
  type PartialLocation
} from "../../domain/locations/Location.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { HistoryErasure } from "../../domain/locations/HistoryErasure.ts"
import { updated, type Written } from "../../domain/write/Written.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { computedOf } from "./LocationMedia.ts"
import * as Erasures from "../changes/Erasures.ts"
import { Memberships } from "../people/Memberships.ts"
import type { Batch } from "../../sql/Batch.ts"
import { sql } from "../../sql/Fragment.ts"
import * as Records from "../../sql/Records.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint, transaction } from "../../sql/SqlErrors.ts"
import { traced } from "../../sql/Traced.ts"

/** A location that was written, and the identifier of another one that differs only by case. */
export interface WrittenLocation extends Written<"locations", LocationId> {
  readonly similarIdentifier?: string | undefined
}

type Rejected = DuplicateIdentifierError | InvalidLocaleError | InvalidRequestError

/** The locations, in PostgreSQL. */
export class Locations extends Context.Service<
  Locations,
  Records.Repository<{
    kind: "locations"
    record: Location
    create: LocationCreate
    patch: PartialLocation
    notFound: LocationNotFoundError
    rejected: { create: Rejected; update: Rejected; delete: never }
    written: WrittenLocation
  }> & {
    readonly bulk: Batch
    /** Removes the values of these members from the past events of a location, which may be deleted. */
    eraseHistory(
      uuid: LocationId,
      members: HistoryErasure["paths"]
    ): Effect.Effect<Written<"locations", LocationId>, LocationNotFoundError>
  }
>()("waypost/repositories/locations/Locations") {
  static readonly layer = Layer.effect(
    Locations,
    Effect.gen(function* () {
      const locales = yield* Locales
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
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

      const similar = <W>({ returned, ...written }: W & { readonly returned: string | undefined }) => ({
        ...written,
        similarIdentifier: returned
      })

      const bulk = records.batch({
        key: { member: "identifier" },
        create: withLocale<LocationCreate>,
        update: withLocale<PartialLocation>,
        relations: memberships.relationsOf("locations", []),
        deletes: true
      })

      return traced(Locations, {
        bulk,
        get: records.get,
        list: records.list,
        create: Effect.fnUntraced(function* (location) {
          const checked = yield* withLocale(location)
          return similar(yield* records.insert(checked).pipe(constraintErrors(location.identifier)))
        }),
        update: Effect.fnUntraced(function* (uuid, patch, precondition) {
          // A location that does not exist, or has changed, is reported before a rule that the request breaks.
          const checked = yield* Effect.tapError(withLocale(patch), () => records.checkPrecondition(uuid, precondition))
          return similar(yield* records.patch(uuid, checked, precondition).pipe(constraintErrors(patch.identifier)))
        }),
        delete: (uuid, precondition) => memberships.withRelationLock("locations", records.remove(uuid, precondition)),
        eraseHistory: Effect.fnUntraced(
          function* (uuid, members) {
            const events = yield* Erasures.erasePaths(pooled, "location", uuid, members)
            return events === 0 ? yield* LocationNotFoundError.of(uuid) : updated("locations", uuid, true)
          },
          (erasure) => transaction(pooled, erasure)
        )
      })
    })
  )
}

/** The errors of the constraints of locations. */
export const constraintErrors = (identifier: string | undefined) =>
  byConstraint({
    locations_identifier_key: () => DuplicateIdentifierError.of(identifier ?? ""),
    locations_coordinates_complete: () => incompleteCoordinates
  })

const incompleteCoordinates = InvalidRequestError.inBody(
  "coordinates",
  "incomplete",
  "latitude and longitude must both be set or both be absent"
)
