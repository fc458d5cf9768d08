import { Effect } from "effect"
import type { Bounds, Point } from "../../domain/locations/Area.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { sql } from "../../sql/Fragment.ts"
import type { ListRequest } from "../../sql/lists/Listing.ts"
import type { View } from "../../sql/View.ts"
import { chordTo, isNear, isWithin, metresTo, walkTo } from "./Areas.ts"

/** What a list of locations asks for, as the query decodes it. */
export type LocationsRequest = ListRequest & {
  /** `now`, or a timestamp. */
  readonly openAt?: string | undefined
  readonly near?: Point | undefined
  /** In metres; needs `near`. */
  readonly radius?: { readonly metres: number } | undefined
  readonly bounds?: Bounds | undefined
}

const distance = "distance"

const rejected = (path: string, message: string) => InvalidRequestError.at("query", path, "notAllowed", message)

/** The request with the order of its places, which are nearest first; ends the request if parameters contradict. */
export const checked = ({ near, radius, ...request }: LocationsRequest): Effect.Effect<LocationsRequest> => {
  if (near === undefined) {
    if (radius !== undefined) return Effect.die(rejected("radius", "A radius needs `near`"))
    return request.sortBy === distance
      ? Effect.die(rejected("sortBy", "The order by distance needs `near`"))
      : Effect.succeed(request)
  }
  if (request.sortOrder === "desc") return Effect.die(rejected("sortOrder", "`near` answers the nearest first"))
  const { sortBy = distance } = request
  return Effect.succeed({ ...request, near, radius, sortBy, sortOrder: "asc" })
}

// Names of zones that were stored in lower case are those of other zones for PostgreSQL, such as `cet`.
const openSql = (time: string) => sql`(t.week_minutes is not null or t.special_minutes is not null)
  and coalesce(t.status, 'open') = 'open' and waypost_is_open(t.week_minutes, t.special_minutes,
    waypost_local(${time === "now" ? sql.literal("now()") : sql`${time}::timestamptz`}, upper(t.timezone)))`

/** The locations that a list asks for besides its filter, and the distance of each. */
export const viewOf = ({ bounds, near, openAt, radius }: LocationsRequest): View => {
  const conditions = [
    ...(openAt === undefined ? [] : [openSql(openAt)]),
    ...(near === undefined ? [] : [isNear(near, radius?.metres)]),
    ...(bounds === undefined ? [] : [isWithin(bounds)])
  ]
  if (conditions.length === 0) return {}
  const where = sql.and(conditions)
  if (near === undefined) return { where }
  const byDistance = { key: chordTo(near), kind: "number", walk: walkTo(near) } as const
  return {
    where,
    added: [{ member: "distanceMetres", name: undefined, kind: "number", sql: metresTo(near), fields: [] }],
    order: (sortBy) => (sortBy === distance ? byDistance : undefined),
    isWalked: true
  }
}
