import { Context, Effect, Layer, Option } from "effect"
import { type InvalidLocaleError, Locales } from "../../domain/schema/Locale.ts"
import {
  DuplicateIdentifierError,
  Location,
  type LocationCreate,
  type LocationId,
  LocationNotFoundError,
  type PartialLocation
} from "../../domain/locations/Location.ts"
import type { EncodedPage } from "../../domain/schema/Encoded.ts"
import type { Precondition } from "../../domain/query/Precondition.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import type { HistoryErasure } from "../../domain/locations/HistoryErasure.ts"
import { updated, type Written } from "../../domain/write/Written.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { computedOf } from "./LocationMedia.ts"
import { checked, type LocationsRequest, viewOf } from "./LocationViews.ts"
import * as Erasures from "../changes/Erasures.ts"
import * as Included from "../people/Included.ts"
import { Memberships } from "../people/Memberships.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import { checkPrecondition } from "../../sql/EntityTag.ts"
import * as Records from "../../sql/Records.ts"
import type { Answer } from "../access/Audiences.ts"
import { Sql } from "../../sql/Sql.ts"
import { byConstraint } from "../../sql/SqlErrors.ts"
import { transaction } from "../../sql/Transactions.ts"
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
    /** A page of the locations that are the answer to a question of access, if its record exists. */
    listWithin(answer: Answer, request: ListRequest): Effect.Effect<Option.Option<EncodedPage<Location>>>
    list(request: LocationsRequest): Effect.Effect<EncodedPage<Location>>
    /** Removes the values of these members from the past events of a location, which may be deleted, and its plans. */
    eraseHistory(
      uuid: LocationId,
      members: HistoryErasure["paths"],
      precondition: Precondition
    ): Effect.Effect<Written<"locations", LocationId>, LocationNotFoundError>
  }
>()("waypost/repositories/locations/Locations") {
  static readonly layer = Layer.effect(
    Locations,
    Effect.gen(function* () {
      const locales = yield* Locales
      const memberships = yield* Memberships
      const { pooled } = yield* Sql
      const publicUrl = yield* PublicUrl
      const records = yield* Records.make({
        kind: "locations",
        table: "locations",
        computed: computedOf(publicUrl),
        related: Included.make(publicUrl)("locations", ["users", "groups"]),
        record: Location,
        notFound: LocationNotFoundError,
        reports: {
          member: "identifier",
          sql: sql`select other.identifier from locations other
          where waypost_fold(other.identifier) = waypost_fold(t.identifier) and other.uuid <> t.uuid limit 1`
        }
      })

      /** The locale in its canonical form, if one is set; hours without any item are unset. */
      const normal = Effect.fnUntraced(function* <L extends LocationCreate | PartialLocation>(location: L) {
        const { openingHours, specialHours } = location
        return {
          ...location,
          ...(typeof location.locale === "string" ? { locale: yield* locales.check(location.locale) } : {}),
          ...(openingHours?.length === 0 ? { openingHours: null } : {}),
          ...(specialHours?.length === 0 ? { specialHours: null } : {})
        }
      })

      const similar = <W>({ returned, ...written }: W & { readonly returned: string | undefined }) => ({
        ...written,
        similarIdentifier: returned
      })

      const bulk = records.batch({
        key: { member: "identifier" },
        create: normal<LocationCreate>,
        update: normal<PartialLocation>,
        relations: memberships.relationsOf("locations", []),
        deletes: true,
        computable: { isAllowed: knowsZone },
        generating: "coordinates"
      })

      return traced(Locations, {
        bulk,
        get: records.get,
        listWithin: (answer, request) => records.listWithin(answer.scope, request, answer),
        list: (request: LocationsRequest) =>
          Effect.flatMap(checked(request), (list) => records.list(list, viewOf(request))),
        create: Effect.fnUntraced(function* (location) {
          const checked = yield* normal(location)
          return similar(yield* records.insert(checked).pipe(constraintErrors(location.identifier)))
        }),
        update: Effect.fnUntraced(function* (uuid, patch, precondition) {
          // A location that does not exist, or has changed, is reported before a rule that the request breaks.
          const checked = yield* Effect.tapError(normal(patch), () => records.checkPrecondition(uuid, precondition))
          return similar(yield* records.patch(uuid, checked, precondition).pipe(constraintErrors(patch.identifier)))
        }),
        delete: (uuid, precondition) => memberships.withRelationLock("locations", records.remove(uuid, precondition)),
        eraseHistory: Effect.fnUntraced(
          function* (uuid, members, precondition) {
            if (precondition !== undefined) yield* pooled`select from locations where uuid = ${uuid} for no key update`
            const current = yield* records.find(uuid)
            const events = yield* Erasures.erasePaths(pooled, uuid, members)
            // The location may be deleted, and the events of one that exists may all have been pruned.
            if (events === 0 && Option.isNone(current)) return yield* LocationNotFoundError.of(uuid)
            yield* checkPrecondition(precondition, Option.getOrUndefined(current))
            return updated("locations", uuid, events > 0)
          },
          // A job that seals many changes holds the log for longer than a lock is waited for.
          (erasure) => transaction(pooled, erasure, { waitsForLocks: true })
        )
      })
    })
  )
}

/** Whether the triggers allow a row: PostgreSQL has to know a time zone when it is set. */
const knowsZone = (now: Fragment, before?: Fragment) => {
  const isKnown = sql`waypost_knows_zone(${now}.timezone) is not false`
  return before === undefined ? isKnown : sql`(${now}.timezone is not distinct from ${before}.timezone or ${isKnown})`
}

/** The errors of the constraints of locations. */
export const constraintErrors = (identifier: string | undefined) =>
  byConstraint({
    locations_identifier_key: () => DuplicateIdentifierError.of(identifier ?? ""),
    locations_coordinates_complete: () => incompleteCoordinates,
    locations_timezone_present: () => missingTimezone,
    locations_timezone_known: () => unknownTimezone
  })

const incompleteCoordinates = InvalidRequestError.inBody(
  "coordinates",
  "incomplete",
  "latitude and longitude must both be set or both be absent"
)

const missingTimezone = InvalidRequestError.inBody("timezone", "required", "Hours need a time zone")

const unknownTimezone = InvalidRequestError.inBody(
  "timezone",
  "unknownTimeZone",
  "The database does not know this time zone"
)
