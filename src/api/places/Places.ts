import { Schema } from "effect"
import { Near, Radius, Within } from "../../domain/locations/Area.ts"
import { Location, sortable } from "../../domain/locations/Location.ts"
import { isTimestamp } from "../../domain/schema/Fields.ts"
import { locationRead } from "../Included.ts"
import * as Records from "../Records.ts"

const OpenAt = Schema.String.annotate({
  description:
    "`now` or a UTC timestamp: only the locations that are open then, in their own time zones. Those whose status is not `open`, and those without hours, are left out.",
  examples: ["now", "2026-01-31T09:30:00.000Z"]
}).check(
  Schema.makeFilter<string>((time) => time === "now" || isTimestamp(time), {
    expected: "now, or a UTC timestamp such as 2026-01-31T09:30:00.000Z",
    code: "invalidFormat"
  })
)

const all = Records.listIncluding(Location, [...sortable, "distance"], locationRead)

/** The schemas of the list of locations. */
export const list = {
  ...all,
  query: {
    ...all.query,
    openAt: Schema.optionalKey(OpenAt),
    near: Schema.optionalKey(Near),
    radius: Schema.optionalKey(Radius),
    bounds: Schema.optionalKey(Within)
  }
}
