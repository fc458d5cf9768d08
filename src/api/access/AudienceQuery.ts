import { Array as Arr, Schema } from "effect"
import * as Location from "../../domain/locations/Location.ts"
import * as User from "../../domain/people/User.ts"
import { defaults } from "../../domain/query/Pagination.ts"
import { locationRead, userRead } from "../Included.ts"
import { fields, includable, ListQuery } from "../ListQuery.ts"

/** The lists of an audience, by the records that they have. */
export const audiences = {
  users: { record: User.User, sortable: User.sortable, ...userRead },
  locations: { record: Location.Location, sortable: Location.sortable, ...locationRead }
} as const

const { fields: _, filter: _f, sortBy: _s, ...paging } = ListQuery(User.User, User.sortable)

/** The query of an audience; `of` decides which fields the records, the filter and the order have. */
export const AudienceQuery = {
  of: Schema.optionalKey(
    Schema.Literals(["users", "locations"]).annotate({
      default: "users",
      description: "Whether the list has users, or the locations whose users can see it."
    })
  ),
  ...paging,
  ...fields(userRead.answered, locationRead.answered),
  ...includable(Arr.dedupe([...userRead.names, ...locationRead.names])),
  sortBy: Schema.optionalKey(
    Schema.Literals(Arr.dedupe([...User.sortable, ...Location.sortable])).annotate({
      default: defaults.sortBy,
      description: "A field by which users, or with `of=locations` locations, can be sorted."
    })
  ),
  filter: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "Conditions `field:operator:value`, joined by commas, as in the list of users, or with `of=locations` that of locations.",
      examples: ["createdAt:gte:2026-01-01"]
    })
  )
}
