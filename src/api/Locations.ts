import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AssetNotFoundError } from "../domain/assets/Asset.ts"
import { FileNotFoundError } from "../domain/assets/File.ts"
import { InvalidLocaleError } from "../domain/schema/Locale.ts"
import {
  DuplicateIdentifierError,
  Location,
  LocationCreate,
  LocationId,
  LocationNotFoundError,
  PartialLocation
} from "../domain/locations/Location.ts"
import { HistoryErasure } from "../domain/locations/HistoryErasure.ts"
import { LocationMediaInput, TranslationLabelsInput } from "../domain/locations/LocationMedia.ts"
import { requires } from "./Authorization.ts"
import { describe, group, operation } from "./Describe.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Delta from "./changes/Delta.ts"
import * as History from "./changes/History.ts"
import * as Restore from "./changes/Restore.ts"
import { locationRead } from "./Included.ts"
import { limits, ofManyRecords } from "./Limits.ts"
import * as Envelope from "./Envelope.ts"
import { answersHeaders } from "./openapi/Headers.ts"
import * as Places from "./places/Places.ts"
import * as Territories from "./places/Territories.ts"
import * as Records from "./Records.ts"
import * as Relations from "./Relations.ts"

const uuid = { uuid: LocationId }
const users = Relations.between("locations", "users")
const groups = Relations.between("locations", "groups")

/** The branches of the brand. */
export class LocationsApi extends HttpApiGroup.make("locations")
  .add(
    HttpApiEndpoint.get("list", "/", Places.list).pipe(
      operation(
        "read:locations",
        "List locations",
        "A page of locations, sorted and filtered. The total is exact. With `openAt` those that are open at a time, each in its own time zone; locations without hours are left out."
      )
    ),
    HttpApiEndpoint.post("create", "/", {
      payload: LocationCreate,
      success: Envelope.Created(LocationId),
      error: [DuplicateIdentifierError, InvalidLocaleError]
    }).pipe(
      operation(
        "create:locations",
        "Create a new location",
        "`name` and `identifier` are required. A `Warning` header reports an identifier that differs from another only by case."
      ),
      answersHeaders("Warning")
    ),
    HttpApiEndpoint.post(
      "bulk",
      "/bulk",
      Bulk.bulk({
        name: "Location",
        id: LocationId,
        create: LocationCreate,
        patch: PartialLocation,
        key: "identifier",
        errors: [LocationNotFoundError, DuplicateIdentifierError, InvalidLocaleError]
      })
    ).pipe(Bulk.writing("locations", "locations")),
    HttpApiEndpoint.get("delta", "/delta", Delta.delta(LocationId, Location, "Location")).pipe(
      Delta.mirroring("read:locations", "locations")
    ),
    HttpApiEndpoint.get("resolve", "/resolve", Territories.resolve).pipe(
      operation(
        "read:locations",
        "List the locations that serve a postal code",
        "The best first: those that list the code, then those that list the beginning of it, the longest first. If none does, those whose address has such a zip code; if none has and `near` is given, the nearest. Spaces, hyphens and case do not matter. In Great Britain only the whole outward code and its leading letters contain a code. With `countryCode`, only locations whose address is in that country."
      )
    ),
    HttpApiEndpoint.get("territories", "/territories", Territories.territories).pipe(
      operation(
        "read:locations",
        "List conflicts or gaps of postal codes",
        "`kind=conflicts`: the postal codes that several locations of a country claim, also by a code that contains them, with these locations. `kind=gaps`: the ranges of `within` that no location claims; a longer code does not close a gap, and the beginning of a code does. With `countryCode`, only locations whose address is in that country."
      )
    ),
    HttpApiEndpoint.get("get", "/:uuid", Records.getIncluding(LocationId, locationRead, LocationNotFoundError)).pipe(
      operation("read:locations", "Get a location", "The location. Members that are not set are absent.")
    ),
    HttpApiEndpoint.post(
      "restore",
      "/:uuid/restore",
      Restore.restoration(LocationId, LocationNotFoundError, [DuplicateIdentifierError])
    ).pipe(Restore.restoring("locations", "location"), limits(ofManyRecords)),
    HttpApiEndpoint.get("history", "/:uuid/history", History.history(LocationId, LocationNotFoundError)).pipe(
      History.describing("read:locations", "location")
    ),
    HttpApiEndpoint.patch("update", "/:uuid", {
      params: uuid,
      payload: PartialLocation,
      success: Envelope.Written(LocationId),
      error: [LocationNotFoundError, DuplicateIdentifierError, InvalidLocaleError]
    }).pipe(
      operation(
        "update:locations",
        "Update a location",
        "Absent members are unchanged, `null` clears, nested objects merge member by member, lists are replaced as a whole."
      ),
      answersHeaders("Warning")
    ),
    HttpApiEndpoint.delete("delete", "/:uuid", Records.remove(LocationId, LocationNotFoundError)).pipe(
      operation(
        "delete:locations",
        "Delete a location",
        "Removes the location; its identifier can be used again at once."
      )
    ),
    HttpApiEndpoint.post("eraseHistory", "/:uuid/erase-history", {
      params: uuid,
      payload: HistoryErasure,
      success: Envelope.Written(LocationId),
      error: LocationNotFoundError
    }).pipe(
      requires("delete:locations", "delete:events"),
      describe(
        "Erase values of past events",
        "Removes the values of some members from the past events of a location, which may be deleted; the location itself is unchanged. A member includes those below it: `contact` also erases `contact.phone`. Backups made before still have the values."
      ),
      limits(ofManyRecords)
    ),
    HttpApiEndpoint.put("updateMedia", "/:uuid/media", {
      params: uuid,
      payload: LocationMediaInput,
      success: Envelope.Written(LocationId),
      error: [LocationNotFoundError, AssetNotFoundError, FileNotFoundError, InvalidLocaleError]
    }).pipe(
      operation(
        "update:locations",
        "Update location media",
        "Replaces all media: a logo, and items in their order, each an asset or an uploaded file. If some of them do not exist, nothing changes and the error lists them."
      )
    ),
    HttpApiEndpoint.put("updateTranslationLabels", "/:uuid/translation-labels", {
      params: uuid,
      payload: TranslationLabelsInput,
      success: Envelope.Written(LocationId),
      error: [LocationNotFoundError, InvalidLocaleError]
    }).pipe(
      operation("update:locations", "Update location translation labels", "Replaces all labels of the custom fields.")
    ),
    HttpApiEndpoint.get("listUsers", "/:uuid/users", users.list).pipe(users.listing),
    HttpApiEndpoint.put("updateUsers", "/:uuid/users", users.replacement).pipe(users.replacing),
    HttpApiEndpoint.get("listGroups", "/:uuid/groups", groups.list).pipe(groups.listing),
    HttpApiEndpoint.put("updateGroups", "/:uuid/groups", groups.replacement).pipe(groups.replacing)
  )
  .prefix("/v1/locations")
  .annotateMerge(group("Locations", "The branches of the brand: addresses, contact, coordinates and custom fields.")) {}
