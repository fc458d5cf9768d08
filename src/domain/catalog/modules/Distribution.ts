import { Schema } from "effect"
import { distinct } from "../../schema/Distinct.ts"
import { Email, text } from "../../schema/Fields.ts"
import { LocationId } from "../../locations/Location.ts"
import { choice, flag, list, unless } from "../ModuleFields.ts"
import { references } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { int } from "../../schema/WholeNumber.ts"

const quantity = int(1, 1_000_000)

const Channel = Schema.Struct({
  channel: Schema.Literals(["download", "print", "email", "social", "display", "signage", "api"]),
  active: flag(true),
  formats: distinct(Schema.Literals(["pdf", "png", "jpg", "mp4", "html", "zip", "original"]), 7, "formats"),
  supplier: Schema.optionalKey(Schema.Struct({ name: text(255), email: Schema.optionalKey(Email) })),
  approvalRequired: flag(false)
})

/** Through which channels the product leaves the portal, and how it is allotted. */
export const DistributionModule = Module.make(
  "distribution",
  {
    channels: list(Channel, { max: 7, of: "channels", uniqueBy: "channel" }),
    allocationMode: choice(["none", "perLocation", "explicit"], "none"),
    quantityPerLocation: Schema.optionalKey(quantity),
    allocations: list(Schema.Struct({ locationUuid: LocationId.pipe(references("locations")), quantity }), {
      max: 10_000,
      of: "allocations",
      uniqueBy: "locationUuid"
    })
  },
  ({ allocationMode, allocations, quantityPerLocation }) => [
    ...unless(
      allocationMode !== "perLocation" || quantityPerLocation !== undefined,
      "quantityPerLocation",
      "required",
      "allocationMode perLocation needs a quantityPerLocation"
    ),
    ...unless(
      allocationMode === "explicit" || allocations.length === 0,
      "allocations",
      "notAllowed",
      "Only allocationMode explicit has allocations"
    )
  ]
)
