import { Schema } from "effect"
import { TimeOfDay } from "../../schema/Time.ts"
import { text, Timestamp, Uuid } from "../../schema/Fields.ts"
import { LocationId } from "../../locations/Location.ts"
import { choice, flag, inOrder, list, unless } from "../ModuleFields.ts"
import { readOnly, withDefault } from "../../write/Markers.ts"
import * as Module from "../ModuleShape.ts"
import { int } from "../../schema/WholeNumber.ts"

/** Up to a leap year in hours, the shortest unit: a shorter bound would end there what can be booked ahead. */
const units = int(0, 366 * 24)

const Upcoming = Schema.Struct({
  uuid: Uuid,
  locationUuid: LocationId,
  from: Timestamp,
  until: Timestamp,
  quantity: Schema.Int,
  status: Schema.Literals(["held", "confirmed"])
})

/** How the product is lent: event material, demonstration stock. */
export const ReservationsModule = Module.make(
  "reservations",
  {
    unit: choice(["hour", "day", "week"], "day"),
    quantity: withDefault(int(1, 1_000_000), 1).annotate({ description: "How many copies there are." }),
    minDuration: withDefault(int(1, 366), 1).annotate({ description: "In units, like every duration here." }),
    maxDuration: Schema.optionalKey(int(1, 366)),
    leadTime: withDefault(units, 0),
    maxAdvance: withDefault(units, 365),
    bufferBefore: withDefault(units, 0),
    bufferAfter: withDefault(units, 0),
    maxPerLocation: Schema.optionalKey(
      int(1, 1_000_000).annotate({ description: "How many one location may have at the same time." })
    ),
    approvalRequired: flag(false),
    availability: list(Schema.Struct({ weekday: int(1, 7), from: TimeOfDay, until: TimeOfDay }), {
      max: 100,
      of: "hours"
    }).annotate({ description: "Weekday 1 is Monday; without any hours it is always available." }),
    blackouts: list(
      Schema.Struct({
        from: Timestamp,
        until: Timestamp,
        reason: Schema.optionalKey(text(255))
      }),
      { max: 200, of: "blackouts" }
    ),
    holdExpiresAfterMinutes: Schema.optionalKey(int(1, 44_640)),
    upcoming: readOnly(Schema.Array(Upcoming)).annotate({ description: "The next hundred." })
  },
  (settings) => [
    ...unless(
      inOrder(settings.minDuration, settings.maxDuration),
      "maxDuration",
      "notInOrder",
      "maxDuration must not be less than minDuration"
    ),
    ...unless(
      inOrder(settings.leadTime, settings.maxAdvance),
      "maxAdvance",
      "notInOrder",
      "maxAdvance must not be less than leadTime"
    ),
    ...(["availability", "blackouts"] as const).flatMap((member) => {
      const periods: ReadonlyArray<{ readonly from: string; readonly until: string }> = settings[member]
      return periods.flatMap(({ from, until }, index) =>
        unless(inOrder(from, until, true), `${member}.${index}.until`, "notInOrder", "until must be after from")
      )
    })
  ]
)
