import { Schema } from "effect"
import { actions } from "../../access/Actions.ts"
import { distinct } from "../../schema/Distinct.ts"
import { GroupId } from "../../people/Group.ts"
import { LocationId } from "../../locations/Location.ts"
import { choice, list } from "../ModuleFields.ts"
import { readOnly, references, visibleName } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { Count } from "../../schema/WholeNumber.ts"

const allowed = distinct(Schema.Literals(actions), actions.length, "actions")

/** Who may do what with the product. */
export const PermissionsModule = Module.make("permissions", {
  authorizationType: choice(["everyone", "groups", "locations"], "groups").annotate({
    description: "With `groups` and an empty list no user has access."
  }),
  groups: list(
    Schema.Struct({ uuid: GroupId.pipe(references("groups")), name: visibleName("groups"), actions: allowed }),
    {
      max: 1000,
      of: "groups",
      uniqueBy: "uuid"
    }
  ),
  locations: list(
    Schema.Struct({
      uuid: LocationId.pipe(references("locations")),
      name: visibleName("locations"),
      identifier: visibleName("locations"),
      actions: allowed
    }),
    { max: 10_000, of: "locations", uniqueBy: "uuid" }
  ),
  resolvedUserCount: readOnly(Count).annotate({ description: "How many users that are now." })
})
