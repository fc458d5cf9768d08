import { Schema } from "effect"
import { GroupId } from "../../people/Group.ts"
import { LocationId } from "../../locations/Location.ts"
import { choice, flag, list } from "../ModuleFields.ts"
import { readOnly, references, visibleName } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { Count } from "../../schema/WholeNumber.ts"

/** Which branches may use the product. */
export const LocationsModule = Module.make("locations", {
  mode: choice(["all", "include", "exclude"], "all"),
  locations: list(
    Schema.Struct({
      uuid: LocationId.pipe(references("locations")),
      name: visibleName("locations"),
      identifier: visibleName("locations")
    }),
    {
      max: 10_000,
      of: "locations",
      uniqueBy: "uuid"
    }
  ),
  groups: list(Schema.Struct({ uuid: GroupId.pipe(references("groups")), name: visibleName("groups") }), {
    max: 10_000,
    of: "groups",
    uniqueBy: "uuid"
  }).annotate({ description: "Their locations count as listed." }),
  locationRequired: flag(true),
  multipleLocations: flag(false),
  resolvedCount: readOnly(Count).annotate({ description: "How many locations qualify now." })
})
