import { Schema } from "effect"
import { Near, Radius, Within } from "../../domain/locations/Area.ts"
import { Location, sortable } from "../../domain/locations/Location.ts"
import { isTimestamp } from "../../domain/schema/Fields.ts"
import { defaults } from "../../domain/query/Pagination.ts"
import { descriptions, direction } from "../ListQuery.ts"
import { locationRead } from "../Included.ts"
import * as Records from "../Records.ts"

const OpenAt = Schema.String.annotate({
  description:
    "`now` or a UTC timestamp: only the locations that are open then, in their own time zones. Those that are temporarily or permanently closed, have no hours, or have a time zone that the database does not know are left out.",
  examples: ["now", "2026-01-31T09:30:00.000Z"]
}).check(
  Schema.makeFilter<string>((time) => time === "now" || isTimestamp(time), {
    expected: "now, or a UTC timestamp such as 2026-01-31T09:30:00.000Z",
    code: "invalidFormat"
  })
)

const sorts = [...sortable, "distance"] as const
const all = Records.listIncluding(Location, sorts, locationRead)

/** The schemas of the list of locations. */
export const list = {
  ...all,
  query: {
    ...all.query,
    sortBy: Schema.optionalKey(
      Schema.Literals(sorts).annotate({
        default: defaults.sortBy,
        description: `${descriptions.sortBy} \`distance\` needs \`near\`, and is the default with it.`
      })
    ),
    sortOrder: Schema.optionalKey(
      direction(defaults.sortOrder).pipe(
        Schema.annotateEncoded({
          description: `${descriptions.sortOrder} With \`near\` it is \`asc\`, and \`desc\` is rejected.`
        })
      )
    ),
    openAt: Schema.optionalKey(OpenAt),
    near: Schema.optionalKey(Near),
    radius: Schema.optionalKey(Radius),
    bounds: Schema.optionalKey(Within)
  }
}
